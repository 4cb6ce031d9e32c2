// Command etcd is the unmodified etcd server, built from the version this module pins.
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"

	"informer.invalid/control-plane/lifeline"
)

func main() {
	lifeline.Hold()
	etcdmain.Main(os.Args)
}
