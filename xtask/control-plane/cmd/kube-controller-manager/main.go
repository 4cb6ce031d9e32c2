// Command kube-controller-manager is the unmodified Kubernetes controller manager, built from the
// version this module pins.
package main

import (
	"os"

	_ "time/tzdata"

	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	"k8s.io/kubernetes/cmd/kube-controller-manager/app"

	"informer.invalid/control-plane/lifeline"
)

func main() {
	lifeline.Hold()
	os.Exit(cli.Run(app.NewControllerManagerCommand()))
}
