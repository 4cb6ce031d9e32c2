package main

import (
	"reflect"
	"sort"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	apiregistrationv1beta1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1beta1"
)

// kind is one registered kind and its Go type.
type kind struct {
	apiVersion, kind string
	goType           reflect.Type
}

// roots are messages that no registered kind contains.
var roots = []reflect.Type{
	reflect.TypeFor[metav1.ListMeta](),
	reflect.TypeFor[metav1.ObjectMeta](),
	reflect.TypeFor[metav1.Status](),
	reflect.TypeFor[metav1.WatchEvent](),
	reflect.TypeFor[runtime.TypeMeta](),
}

// registeredScheme knows the kinds of every group.
func registeredScheme() (*runtime.Scheme, error) {
	known := runtime.NewScheme()
	builder := runtime.NewSchemeBuilder(
		scheme.AddToScheme,
		metav1.AddMetaToScheme,
		apiextensionsv1.AddToScheme,
		apiextensionsv1beta1.AddToScheme,
		apiregistrationv1.AddToScheme,
		apiregistrationv1beta1.AddToScheme,
	)
	return known, builder.AddToScheme(known)
}

const metaPackage = "k8s.io/apimachinery/pkg/apis/meta/v1"

// registeredKinds returns every kind that can be on the wire, in order of apiVersion and kind.
func registeredKinds() ([]kind, error) {
	known, err := registeredScheme()
	if err != nil {
		return nil, err
	}
	var kinds []kind
	for gvk, goType := range known.AllKnownTypes() {
		apiVersion := gvk.GroupVersion().String()
		if gvk.Version == runtime.APIVersionInternal || isCopy(apiVersion, goType) {
			continue
		}
		kinds = append(kinds, kind{apiVersion, gvk.Kind, goType})
	}
	sort.Slice(kinds, func(i, j int) bool {
		if kinds[i].apiVersion != kinds[j].apiVersion {
			return kinds[i].apiVersion < kinds[j].apiVersion
		}
		return kinds[i].kind < kinds[j].kind
	})
	return kinds, nil
}

// isCopy tells whether a type of meta/v1 is registered in a group that is not its own: every group
// registers the options and WatchEvent, which has no kind on the wire. Table has cells of any type,
// and no protobuf.
func isCopy(apiVersion string, goType reflect.Type) bool {
	if goType.PkgPath() != metaPackage {
		return false
	}
	own := apiVersion == "v1" || apiVersion == "meta.k8s.io/v1"
	switch goType.Name() {
	case "Table", "WatchEvent", "InternalEvent":
		return true
	}
	return !own
}

// messageName is the name of a message in the table: "core/v1.Pod", "meta/v1.ObjectMeta".
func messageName(goType reflect.Type) string {
	path := goType.PkgPath()
	for _, prefix := range []string{
		"k8s.io/api/",
		"k8s.io/apimachinery/pkg/apis/",
		"k8s.io/apiextensions-apiserver/pkg/apis/",
		"k8s.io/kube-aggregator/pkg/apis/",
		"k8s.io/apimachinery/pkg/",
	} {
		if rest, ok := strings.CutPrefix(path, prefix); ok {
			path = rest
			break
		}
	}
	return path + "." + goType.Name()
}
