package main

import (
	"bufio"
	"io"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
)

// encode reads one object of a registered kind in JSON and prints its protobuf body.
func encode(out *bufio.Writer) error {
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	known, err := registeredScheme()
	if err != nil {
		return err
	}
	decoder := serializer.NewCodecFactory(known).UniversalDeserializer()
	object, _, err := decoder.Decode(text, nil, nil)
	if err != nil {
		return err
	}
	body, err := runtime.Encode(protobuf.NewSerializer(known, known), object)
	if err != nil {
		return err
	}
	_, err = out.Write(body)
	return err
}
