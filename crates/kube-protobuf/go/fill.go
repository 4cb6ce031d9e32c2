package main

import (
	"fmt"
	"math"
	"math/rand"
	"reflect"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// filler fills Go values at random. Zero, empty and absent values are frequent, because JSON and
// protobuf differ in them.
type filler struct {
	*rand.Rand
	// left is how many pointers, elements and entries may still be made.
	left int
}

var texts = []string{"", "", "a", "web-0", "ключ", "a\"b\\c\n", "<&>\u2028", "🙂", "0", "null"}

var integers = []int64{0, 0, 1, -1, 8080, 1 << 20, math.MaxInt32, math.MinInt32}

var numbers = []float64{0, 1, -1, 0.1, -2.5, 1e-9, 1e20, 1e21, 1 << 53, 1 << 63, 1e300,
	math.Copysign(0, -1)}

var quantities = []string{"0", "1", "100m", "1500Mi", "1Gi", "2.5", "1e3", "1e9", "-5", "12n", "3Ki"}

var jsons = []string{"null", "true", "0", "-1.5", `"text"`, "[]", "{}", `[1,{"a":null}]`,
	`{"f:metadata":{"f:labels":{".":{},"f:app":{}}}}`, `{"kind":"Widget","apiVersion":"a/v1"}`}

func (f *filler) fill(value reflect.Value, depth int) {
	if f.special(value) {
		return
	}
	switch value.Kind() {
	case reflect.Pointer:
		if f.more(depth) {
			value.Set(reflect.New(value.Type().Elem()))
			f.fill(value.Elem(), depth+1)
		}
	case reflect.Struct:
		// In random order, so that a budget which is spent hits another field each time.
		for _, index := range f.Perm(value.NumField()) {
			field := value.Type().Field(index)
			_, onWire := field.Tag.Lookup("protobuf")
			if onWire && field.Tag.Get("protobuf") != "-" {
				f.fill(value.Field(index), depth+1)
			}
		}
	case reflect.Slice:
		if value.Type() == bytesType {
			f.bytes(value)
			return
		}
		for f.more(depth) {
			element := reflect.New(value.Type().Elem()).Elem()
			f.fill(element, depth+1)
			value.Set(reflect.Append(value, element))
		}
		if value.IsNil() && f.Intn(4) == 0 {
			value.Set(reflect.MakeSlice(value.Type(), 0, 0))
		}
	case reflect.Map:
		for f.more(depth) {
			if value.IsNil() {
				value.Set(reflect.MakeMap(value.Type()))
			}
			element := reflect.New(value.Type().Elem()).Elem()
			f.fill(element, depth+1)
			key := reflect.ValueOf(f.text()).Convert(value.Type().Key())
			value.SetMapIndex(key, element)
		}
	case reflect.String:
		value.SetString(f.text())
	case reflect.Bool:
		value.SetBool(f.Intn(2) == 0)
	case reflect.Int32:
		value.SetInt(int64(int32(integers[f.Intn(len(integers))])))
	case reflect.Int64:
		value.SetInt(f.integer())
	case reflect.Float64:
		value.SetFloat(numbers[f.Intn(len(numbers))])
	default:
		panic(fmt.Sprintf("unknown type %s", value.Type()))
	}
}

// more tells whether one more value is made.
func (f *filler) more(depth int) bool {
	if f.left <= 0 || depth > 40 || f.Intn(5) < 2 {
		return false
	}
	f.left--
	return true
}

func (f *filler) text() string {
	if f.Intn(3) == 0 {
		return fmt.Sprintf("text-%d", f.Intn(1000))
	}
	return texts[f.Intn(len(texts))]
}

func (f *filler) integer() int64 {
	if f.Intn(4) == 0 {
		return int64(f.Uint64())
	}
	return integers[f.Intn(len(integers))]
}

func (f *filler) bytes(value reflect.Value) {
	if f.Intn(3) == 0 {
		return
	}
	bytes := make([]byte, f.Intn(8))
	f.Read(bytes)
	value.SetBytes(bytes)
}

// seconds is a time in the years 1 to 9999, or the zero time.
func (f *filler) seconds() time.Time {
	switch f.Intn(6) {
	case 0:
		return time.Time{}
	case 1:
		return time.Unix(0, 0)
	case 2:
		return time.Unix(f.Int63n(253402300800+62135596800)-62135596800, 999_999_999)
	}
	return time.Unix(1_700_000_000+f.Int63n(1_000_000), f.Int63n(1_000_000_000))
}

// special fills the types that reflection cannot; false for all others.
func (f *filler) special(value reflect.Value) bool {
	switch target := value.Addr().Interface().(type) {
	case *metav1.Time:
		target.Time = f.seconds()
	case *metav1.MicroTime:
		target.Time = f.seconds()
	case *metav1.Duration:
		target.Duration = time.Duration(f.integer())
		if f.Intn(2) == 0 {
			target.Duration *= time.Duration(f.Int63n(10_000_000))
		}
	case *resource.Quantity:
		if f.Intn(4) != 0 {
			*target = resource.MustParse(quantities[f.Intn(len(quantities))])
		}
	case *intstr.IntOrString:
		if *target = intstr.FromInt32(int32(f.integer())); f.Intn(2) == 0 {
			*target = intstr.FromString(f.text())
		}
	case *metav1.FieldsV1:
		target.Raw = f.json()
	case *runtime.RawExtension:
		target.Raw = f.json()
	case *apiextensionsv1.JSON:
		target.Raw = f.json()
	case *apiextensionsv1beta1.JSON:
		target.Raw = f.json()
	default:
		return false
	}
	return true
}

func (f *filler) json() []byte {
	if f.Intn(4) == 0 {
		return nil
	}
	return []byte(jsons[f.Intn(len(jsons))])
}
