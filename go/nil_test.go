package bloomline

// Nil pointers and zero values of every kind: all methods there are, by reflection. They answer "maybe",
// adding to them panics with a message, and nothing dies of a nil pointer.

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// nilKinds are all types that are used by pointer, each with one that is in use. Those of values, such
// as View, have no nil.
func nilKinds(t *testing.T) []any {
	built := builtKinds(randomHashes(900, 8))
	static := built["StaticFilter"].(*StaticFilter)
	path := filepath.Join(t.TempDir(), "static")
	if err := static.Save(path); err != nil {
		t.Fatal(err)
	}
	mapped := orPanic(Open(path))
	t.Cleanup(func() { mapped.Close() })
	path = filepath.Join(t.TempDir(), "matrix")
	if err := orPanic(NewMatrix(Params{LineCount: 4, K: 5}, 3)).Save(path); err != nil {
		t.Fatal(err)
	}
	mappedMatrix := orPanic(OpenMatrix(path))
	t.Cleanup(func() { mappedMatrix.Close() })
	all := append(slices.Collect(maps.Values(built)), orPanic(NewStaticBuilder(0.01)), mapped, mappedMatrix, NewSwap(static))
	for name, filter := range kindsOf(t) {
		if !strings.Contains(name, ",") {
			all = append(all, filter)
		}
	}
	return all
}

// Methods of values, which Go calls with a copy: nil has none, and dies with a message of Go's.
// Packages that marshal do not call them: nil is null in JSON.
var ofValues = map[string]bool{"MarshalText": true, "GobEncode": true}

// Methods whose error says that there is nothing.
var needLines = strings.Fields("AppendBinary MarshalBinary WriteTo WriteDelimited Save SaveWhole SaveChanged Snapshot Fold Split Freeze Remove RemoveString RemoveUint64 RemoveHash")

func TestNilAndZero(t *testing.T) {
	methods := 0
	for _, used := range nilKinds(t) {
		kind := reflect.TypeOf(used)
		for i := range kind.NumMethod() {
			method := kind.Method(i)
			for _, isNil := range []bool{true, false} {
				if isNil && ofValues[method.Name] {
					continue
				}
				receivers := func() reflect.Value {
					if isNil {
						return reflect.Zero(kind)
					}
					return reflect.New(kind.Elem())
				}
				// The other filter of Equal or Union is nil, zero, or in use.
				for _, other := range []reflect.Value{reflect.Zero(kind), reflect.New(kind.Elem()), reflect.ValueOf(used)} {
					methods++
					what := fmt.Sprintf("(%v).%s of nil: %v", kind, method.Name, isNil)
					checkNothing(t, what, method, receivers(), other, used)
				}
			}
		}
	}
	if methods < 1000 {
		t.Errorf("%d calls: where are the methods?", methods)
	}
}

// checkNothing calls a method of nil or a zero value, and checks what it does.
func checkNothing(t *testing.T, what string, method reflect.Method, receiver, other reflect.Value, used any) {
	t.Helper()
	name, adds, decodes := method.Name, strings.HasPrefix(method.Name, "Add"), false
	args := []reflect.Value{receiver}
	for i := 1; i < method.Type.NumIn(); i++ {
		var arg any
		switch in := method.Type.In(i); in {
		case reflect.TypeFor[[]byte]():
			arg = []byte("key")
			switch name {
			case "UnmarshalBinary", "GobDecode":
				arg, decodes = bytesOfKind(t, used, "MarshalBinary"), true
			case "UnmarshalText":
				arg, decodes = bytesOfKind(t, used, "MarshalText"), true
			case "ApplyPatch":
				var patch bytes.Buffer
				if err := used.(*GrowingFilter).Clone().SaveWhole(&patch, 0); err != nil {
					t.Fatal(err)
				}
				arg, decodes = patch.Bytes(), true
			}
		case reflect.TypeFor[string]():
			arg = filepath.Join(t.TempDir(), "file")
		case reflect.TypeFor[io.Reader]():
			data := bytesOfKind(t, used, "MarshalBinary")
			if name == "ReadDelimited" {
				data = append(le.AppendUint64(nil, uint64(len(data))), data...)
			}
			arg, decodes = bytes.NewReader(data), true
		case reflect.TypeFor[io.Writer]():
			arg = io.Discard
		case reflect.TypeFor[uint64]():
			arg = uint64(7)
		case reflect.TypeFor[int64]():
			arg = int64(1 << 20)
		case reflect.TypeFor[int]():
			arg = 1
		case reflect.TypeFor[float64]():
			arg = 0.5
		case reflect.TypeFor[[][]byte]():
			arg = [][]byte{[]byte("key")}
		case reflect.TypeFor[[]string]():
			arg = []string{"key"}
		case reflect.TypeFor[[]uint64]():
			arg = []uint64{7}
		case reflect.TypeFor[Bitmap]():
			arg = Bitmap(nil)
		default:
			if in == receiver.Type() {
				args = append(args, other)
				continue
			}
			args = append(args, reflect.Zero(in))
			continue
		}
		args = append(args, reflect.ValueOf(arg))
	}
	decodes = decodes && !errors.Is(errorOf(used, name), errNoText)
	results, panicked := callOf(method, args)
	message, isText := panicked.(string)
	switch {
	case panicked != nil && !(isText && strings.HasPrefix(message, "bloomline: ")):
		t.Errorf("%s panics with %v", what, panicked)
	case panicked != nil && !adds && !(decodes && receiver.IsNil()) && name != "Publish":
		t.Errorf("%s panics, which adding does: %v", what, panicked)
	case panicked == nil && (adds || decodes && receiver.IsNil()):
		t.Errorf("%s does not panic", what)
	}
	if panicked != nil {
		return
	}
	ofColumns := false // a bit for each, of which there is none
	switch used.(type) {
	case *Matrix, *MappedMatrix:
		ofColumns = true
	}
	for _, result := range results {
		switch result := result.Interface().(type) {
		case bool:
			if strings.HasPrefix(name, "Contains") && !result {
				t.Errorf("%s denies", what)
			}
		case Bitmap:
			if asked := strings.HasPrefix(name, "Contains") && (!ofColumns || name == "ContainsPairs"); asked != (result.Count() == 1) || !asked && result.Count() != 0 {
				t.Errorf("%s: %d bits", what, result.Count())
			}
		case float64:
			// It answers true to all, and has nothing in it.
			want := 0.0
			if name != "Rate" && strings.HasSuffix(name, "Rate") {
				want = 1
			}
			if result != want {
				t.Errorf("%s: %v", what, result)
			}
		case int, uint64, Params, CuckooParams, StaticParams, GrowingParams:
			counts := strings.HasPrefix(name, "Count") && !ofColumns // at most so often
			if !reflect.ValueOf(result).IsZero() && !strings.HasPrefix(name, "Hash") && !counts || counts && result != mostCount && result != uint64(math.MaxUint64) {
				t.Errorf("%s: %v", what, result)
			}
		case error:
			if slices.Contains(needLines, name) && !errors.Is(result, ErrNoLines) {
				t.Errorf("%s: %v", what, result)
			}
			// It has no key that could be absent, and no lines that could be full or odd.
			for _, wrong := range []error{ErrAbsent, ErrFull, ErrOddLineCount, ErrTruncated, ErrNotAFilter} {
				if errors.Is(result, wrong) {
					t.Errorf("%s: %v", what, result)
				}
			}
		}
	}
}

// callOf calls a method and returns its results, or what it panics with.
func callOf(method reflect.Method, args []reflect.Value) (results []reflect.Value, panicked any) {
	defer func() { panicked = recover() }()
	return method.Func.Call(args), nil
}

// errorOf is what decoding into what has no encoded form returns.
func errorOf(used any, name string) error {
	if text, ok := used.(interface{ UnmarshalText([]byte) error }); ok && name == "UnmarshalText" {
		return text.UnmarshalText(nil)
	}
	return nil
}

// bytesOfKind is what a filter in use encodes, or nothing.
func bytesOfKind(t *testing.T, used any, method string) []byte {
	t.Helper()
	by := reflect.ValueOf(used).MethodByName(method)
	if !by.IsValid() {
		return nil
	}
	data, _ := by.Call(nil)[0].Interface().([]byte)
	return data
}
