package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"

	corev1 "k8s.io/api/core/v1"
)

// render writes every pod of the server in protobuf, each after its length in four bytes.
func render(c *commandLine) error {
	file, err := os.Create(c.render + ".part")
	if err != nil {
		return err
	}
	writer := bufio.NewWriterSize(file, 1<<20)
	token := ""
	for {
		page, err := page(c.server, token)
		if err != nil {
			return err
		}
		for i := range page.Items {
			if err := write(writer, &page.Items[i]); err != nil {
				return err
			}
		}
		if token = page.Continue; token == "" {
			break
		}
	}
	if err := writer.Flush(); err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	// Only whole files have the name.
	return os.Rename(file.Name(), c.render)
}

func page(server, token string) (*corev1.PodList, error) {
	query := url.Values{"limit": {"500"}, "continue": {token}}
	response, err := http.Get("http://" + server + "/api/v1/pods?" + query.Encode())
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the server answers %s", response.Status)
	}
	page := &corev1.PodList{}
	return page, json.NewDecoder(response.Body).Decode(page)
}

func write(writer *bufio.Writer, pod *corev1.Pod) error {
	bytes, err := pod.Marshal()
	if err != nil {
		return err
	}
	length := binary.BigEndian.AppendUint32(nil, uint32(len(bytes)))
	if _, err := writer.Write(length); err != nil {
		return err
	}
	_, err = writer.Write(bytes)
	return err
}
