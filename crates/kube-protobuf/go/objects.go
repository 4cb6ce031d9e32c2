package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
)

// writeObjects prints random objects of every kind. Each is four byte strings behind their lengths
// (big-endian, four bytes): the apiVersion, the kind, the JSON and the protobuf body.
//
// The JSON is that of the object after its way through protobuf, because this is the object that an
// API server has: protobuf does not tell an empty list from none.
func writeObjects(out *bufio.Writer, objects, size int, seed int64, only string) error {
	kinds, err := registeredKinds()
	if err != nil {
		return err
	}
	known, err := registeredScheme()
	if err != nil {
		return err
	}
	serializer := protobuf.NewSerializer(known, known)
	for _, kind := range kinds {
		name := kind.apiVersion + "/" + kind.kind
		if only != "" && only != name {
			continue
		}
		random := rand.New(rand.NewSource(seed ^ hash(name)))
		for range objects {
			if err := writeObject(out, serializer, filler{random, random.Intn(size)}, kind); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return nil
}

func writeObject(
	out *bufio.Writer, serializer *protobuf.Serializer, filler filler, kind kind,
) error {
	value := reflect.New(kind.goType)
	filler.fill(value.Elem(), 0)
	object := value.Interface().(runtime.Object)
	object.GetObjectKind().SetGroupVersionKind(kind.gvk())
	body, err := runtime.Encode(serializer, object)
	if err != nil {
		return err
	}
	decoded, _, err := serializer.Decode(body, nil, nil)
	if err != nil {
		return err
	}
	// Strict JSON: characters of HTML are the same in either spelling.
	text, err := json.Marshal(decoded)
	if err != nil {
		return err
	}
	for _, part := range [][]byte{[]byte(kind.apiVersion), []byte(kind.kind), text, body} {
		if err := binary.Write(out, binary.BigEndian, uint32(len(part))); err != nil {
			return err
		}
		if _, err := out.Write(part); err != nil {
			return err
		}
	}
	return nil
}

func (k kind) gvk() schema.GroupVersionKind {
	return schema.FromAPIVersionAndKind(k.apiVersion, k.kind)
}

// hash makes the objects of a kind independent of the other kinds.
func hash(name string) int64 {
	sum := fnv.New64a()
	sum.Write([]byte(name))
	return int64(sum.Sum64())
}
