package main

import (
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	var out strings.Builder
	err := run(&out, 2000)
	t.Log("\n" + out.String())
	if err != nil {
		t.Fatal(err)
	}
}
