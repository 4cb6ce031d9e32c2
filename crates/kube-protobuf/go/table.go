package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"reflect"
	"runtime/debug"
	"sort"
	"strconv"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// special are the types whose JSON is no object with the fields of their message.
var special = map[reflect.Type]string{
	reflect.TypeFor[metav1.Time]():               "time",
	reflect.TypeFor[metav1.MicroTime]():          "micro",
	reflect.TypeFor[metav1.Duration]():           "duration",
	reflect.TypeFor[resource.Quantity]():         "quantity",
	reflect.TypeFor[intstr.IntOrString]():        "intstr",
	reflect.TypeFor[metav1.FieldsV1]():           "json",
	reflect.TypeFor[runtime.RawExtension]():      "json",
	reflect.TypeFor[apiextensionsv1.JSON]():      "json",
	reflect.TypeFor[apiextensionsv1beta1.JSON](): "json",
}

// choices are messages whose JSON is one of their fields.
var choices = map[reflect.Type]string{
	reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrBool]():             "~bool",
	reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrArray]():            "~array",
	reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrStringArray]():      "~strings",
	reflect.TypeFor[apiextensionsv1beta1.JSONSchemaPropsOrBool]():        "~bool",
	reflect.TypeFor[apiextensionsv1beta1.JSONSchemaPropsOrArray]():       "~array",
	reflect.TypeFor[apiextensionsv1beta1.JSONSchemaPropsOrStringArray](): "~strings",
}

var (
	bytesType = reflect.TypeFor[[]byte]()
	typeMeta  = reflect.TypeFor[metav1.TypeMeta]()
	marshaler = reflect.TypeFor[json.Marshaler]()
)

// table collects the messages that are reachable from the registered kinds.
type table struct {
	texts map[string]string
	open  []reflect.Type
}

func writeTable(out *bufio.Writer) error {
	kinds, err := registeredKinds()
	if err != nil {
		return err
	}
	t := table{texts: map[string]string{}, open: append([]reflect.Type{}, roots...)}
	for _, kind := range kinds {
		t.open = append(t.open, kind.goType)
	}
	for len(t.open) > 0 {
		goType := t.open[len(t.open)-1]
		t.open = t.open[:len(t.open)-1]
		if err := t.add(goType); err != nil {
			return err
		}
	}
	writeHeader(out)
	names := make([]string, 0, len(t.texts))
	for name := range t.texts {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		out.WriteString(t.texts[name])
	}
	for _, kind := range kinds {
		fmt.Fprintf(out, "=%s %s %s\n", kind.apiVersion, kind.kind, messageName(kind.goType))
	}
	return nil
}

// writeHeader names the modules that the table was made of.
func writeHeader(out *bufio.Writer) {
	fmt.Fprintln(out, "# Made by `cargo xtask protobuf-schema`; see README.md for the format.")
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return
	}
	for _, module := range info.Deps {
		switch module.Path {
		case "k8s.io/api", "k8s.io/apimachinery", "k8s.io/apiextensions-apiserver",
			"k8s.io/kube-aggregator":
			fmt.Fprintf(out, "# %s %s\n", module.Path, module.Version)
		}
	}
}

// add appends one message and opens the messages of its fields.
func (t *table) add(goType reflect.Type) error {
	name := messageName(goType)
	if _, ok := t.texts[name]; ok {
		return nil
	}
	choice, isChoice := choices[goType]
	if !isChoice && implements(goType, marshaler) {
		return fmt.Errorf("%s has JSON of its own: teach table.go its rule", name)
	}
	var lines []line
	flags := ""
	if isChoice {
		flags = " " + choice
	}
	for i := range goType.NumField() {
		field := goType.Field(i)
		if field.Type == typeMeta && field.Anonymous {
			flags += " +type"
			continue
		}
		line, ok, err := t.field(goType, field)
		if err != nil {
			return fmt.Errorf("%s.%s: %w", name, field.Name, err)
		}
		if ok {
			lines = append(lines, line)
		}
	}
	sort.Slice(lines, func(i, j int) bool { return lines[i].number < lines[j].number })
	var text strings.Builder
	text.WriteString(name + flags + "\n")
	for _, line := range lines {
		fmt.Fprintf(&text, " %d %s %s %s\n", line.number, line.json, line.shape, line.kind)
	}
	t.texts[name] = text.String()
	return nil
}

// line is one field of a message.
type line struct {
	number            int
	json, shape, kind string
}

// field describes one field; false if it has no protobuf.
func (t *table) field(owner reflect.Type, field reflect.StructField) (line, bool, error) {
	tag, ok := field.Tag.Lookup("protobuf")
	if !ok || tag == "-" {
		return line{}, false, nil
	}
	parts := strings.Split(tag, ",")
	if len(parts) < 2 {
		return line{}, false, fmt.Errorf("unknown protobuf tag %q", tag)
	}
	number, err := strconv.Atoi(parts[1])
	if err != nil {
		return line{}, false, err
	}
	name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
	if name == "-" || strings.Contains(options, "string") {
		return line{}, false, fmt.Errorf("unknown json tag %q", field.Tag.Get("json"))
	}
	inline := field.Anonymous && name == ""
	if name == "" {
		name = field.Name
	}
	shape, kind, err := t.shape(owner, field.Type)
	if err != nil {
		return line{}, false, err
	}
	if inline {
		name, shape = "-", strings.Replace(shape, ".", "", 1)+">"
	}
	omitted, err := isOmitted(field.Type, options)
	if omitted {
		shape += "?"
	}
	return line{number, name, shape, kind}, true, err
}

// isOmitted tells whether JSON leaves the field out when it is zero. `omitempty` never leaves out a
// struct, and `omitzero` is on one type of struct alone.
func isOmitted(goType reflect.Type, options string) (bool, error) {
	isStruct := goType.Kind() == reflect.Struct
	for option := range strings.SplitSeq(options, ",") {
		switch {
		case option == "omitzero" && special[goType] != "time":
			return false, fmt.Errorf("omitzero on %s", goType)
		case option == "omitzero", option == "omitempty" && !isStruct:
			return true, nil
		}
	}
	return false, nil
}

// shape tells how often a field is there, and of which kind one of its elements is.
func (t *table) shape(owner, goType reflect.Type) (string, string, error) {
	_, isSpecial := special[goType]
	switch {
	case isSpecial:
	case goType.Kind() == reflect.Pointer:
		kind, err := t.kind(owner, goType.Elem())
		return "*", kind, err
	case goType.Kind() == reflect.Map:
		if goType.Key().Kind() != reflect.String {
			return "", "", fmt.Errorf("unknown type of keys: %s", goType.Key())
		}
		kind, err := t.kind(owner, goType.Elem())
		return "{", kind, err
	case goType.Kind() == reflect.Slice && goType != bytesType && !isMessage(goType):
		kind, err := t.kind(owner, goType.Elem())
		return "[", kind, err
	}
	kind, err := t.kind(owner, goType)
	return ".", kind, err
}

// kind is the kind of one element: a scalar, a special type or the name of a message.
//
// The wire type and whether a field repeats follow from the Go type. The tag is wrong about them for
// some fields (ListMeta.RemainingItemCount, PodSpec.Tolerations).
func (t *table) kind(owner, goType reflect.Type) (string, error) {
	if name, ok := special[goType]; ok {
		return name, nil
	}
	name := ""
	switch goType.Kind() {
	case reflect.Bool:
		name = "bool"
	case reflect.Int32:
		name = "i32"
	case reflect.Int64:
		name = "i64"
	case reflect.Float64:
		name = "f64"
	case reflect.String:
		name = "str"
	case reflect.Slice:
		switch goType.Elem().Kind() {
		case reflect.Uint8:
			name = "bytes"
		case reflect.String:
			// A message {items=1}, so that an empty list differs from none.
			if isMessage(goType) {
				name = "names"
			}
		}
	case reflect.Struct:
		name = messageName(goType)
		t.open = append(t.open, goType)
		if goType.PkgPath() == owner.PkgPath() {
			name = "." + goType.Name()
		}
	}
	if name == "" {
		return "", fmt.Errorf("unknown type %s", goType)
	}
	isScalar := goType.Kind() != reflect.Struct && goType != bytesType
	if isScalar && implements(goType, marshaler) {
		return "", fmt.Errorf("%s has JSON of its own", goType)
	}
	return name, nil
}

// isMessage tells whether a named slice is a message of its own, as metav1.Verbs is.
func isMessage(goType reflect.Type) bool {
	return implements(goType, reflect.TypeFor[interface{ Unmarshal([]byte) error }]())
}

func implements(goType, target reflect.Type) bool {
	return goType.Implements(target) || reflect.PointerTo(goType).Implements(target)
}
