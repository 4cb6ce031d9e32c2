// Command beside follows a real API server with client-go's shared informers and writes down what
// their handlers are told, so that somebody else can compare.
//
// The first line of its input is a JSON array of what to follow (watch.go). Each later line is a
// command: "join NAME" adds a handler to every informer, "stores" writes every store, "asked"
// writes how often the server was asked for what. It ends with its input. Each line of its output
// is one record (record.go).
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"

	"k8s.io/client-go/tools/clientcmd"
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "where the kubeconfig is")
	server := flag.String("server", "", "the server's address, instead of the kubeconfig's")
	flag.Parse()
	if err := run(*kubeconfig, *server); err != nil {
		fmt.Fprintln(os.Stderr, "beside:", err)
		os.Exit(1)
	}
}

func run(kubeconfig, server string) error {
	config, err := clientcmd.BuildConfigFromFlags(server, kubeconfig)
	if err != nil {
		return err
	}
	// Nothing here is to be slower than the server.
	config.QPS = -1
	asked := countRequests(config)
	input := bufio.NewReader(os.Stdin)
	wanted, err := readWanted(input)
	if err != nil {
		return err
	}
	out := newOutput(os.Stdout)
	followed, err := follow(config, wanted, out)
	if err != nil {
		return err
	}
	for {
		line, err := input.ReadString('\n')
		if err != nil {
			return out.close()
		}
		if err := obey(strings.Fields(line), followed, asked, out); err != nil {
			return err
		}
	}
}

func readWanted(input *bufio.Reader) ([]wanted, error) {
	line, err := input.ReadBytes('\n')
	if err != nil {
		return nil, err
	}
	var all []wanted
	return all, json.Unmarshal(line, &all)
}

func obey(words []string, all []followed, asked *asked, out *output) error {
	switch {
	case len(words) == 2 && words[0] == "join":
		for _, f := range all {
			if err := f.join(words[1], 0, out); err != nil {
				return err
			}
		}
		out.write(record{Joined: words[1]})
	case len(words) == 1 && words[0] == "stores":
		for _, f := range all {
			out.write(f.store())
		}
	case len(words) == 1 && words[0] == "asked":
		out.write(record{Asked: asked.counts()})
	default:
		return fmt.Errorf("nobody understands %q", words)
	}
	return nil
}
