// Program kube-protobuf prints what the Rust crate beside it takes from the Go types of Kubernetes:
// the schema table, and random objects in JSON and protobuf that its decoder is judged by.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"os"
)

func main() {
	if len(os.Args) < 2 {
		fail(errors.New("usage: kube-protobuf schema | encode | objects [FLAG...]"))
	}
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	var err error
	switch command := os.Args[1]; command {
	case "schema":
		err = writeTable(out)
	case "encode":
		err = encode(out)
	case "objects":
		flags := flag.NewFlagSet(command, flag.ExitOnError)
		objects := flags.Int("objects", 50, "objects of each kind")
		size := flags.Int("size", 300, "the most elements of an object")
		seed := flags.Int64("seed", 1, "where chance begins")
		only := flags.String("only", "", "only the kind `apiVersion/kind`")
		if err = flags.Parse(os.Args[2:]); err == nil {
			err = writeObjects(out, *objects, *size, *seed, *only)
		}
	default:
		err = fmt.Errorf("unknown command %q", command)
	}
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "error:", err)
	os.Exit(1)
}
