package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// The files are what the generator writes, and there are no others.
func TestFresh(t *testing.T) {
	const root = "../.."
	var want []string
	for _, k := range kinds {
		name := filepath.Join(root, k.File+"_gen.go")
		want = append(want, name)
		source, err := generate(k)
		if err != nil {
			t.Fatal(k.Name, err)
		}
		if is, err := os.ReadFile(name); err != nil || string(is) != string(source) {
			t.Errorf("%s is not what internal/gen writes, %v: run `go generate` in go/", name, err)
		}
	}
	doc, err := os.ReadFile(filepath.Join(root, "doc.go"))
	if err != nil || listed(string(doc)) != string(doc) {
		t.Errorf("the list of types in doc.go is not what internal/gen writes, %v: run `go generate` in go/", err)
	}
	there, err := filepath.Glob(filepath.Join(root, "*_gen.go"))
	slices.Sort(want)
	if err != nil || !slices.Equal(there, want) {
		t.Errorf("%v %v, want %v", there, err, want)
	}
}
