// Command typecheck says whether packages compile for the system of GOOS and GOARCH, tests included, as
// the compiler's first half does. Compiling the standard library for each system takes ten times as long.
//
//	GOOS=windows GOARCH=amd64 typecheck DIRECTORY...
package main

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
)

func main() {
	failed := len(os.Args) < 2
	files := token.NewFileSet()
	from := importer.ForCompiler(files, "source", nil)
	for _, directory := range os.Args[1:] {
		pkg, err := build.ImportDir(directory, 0)
		if err != nil {
			fmt.Fprintln(os.Stderr, "typecheck:", err)
			os.Exit(1)
		}
		for _, names := range [][]string{slices.Concat(pkg.GoFiles, pkg.TestGoFiles), pkg.XTestGoFiles} {
			var parsed []*ast.File
			for _, name := range names {
				file, err := parser.ParseFile(files, filepath.Join(directory, name), nil, 0)
				if err != nil {
					fmt.Fprintln(os.Stderr, err)
					failed = true
					continue
				}
				parsed = append(parsed, file)
			}
			config := types.Config{
				Importer: from,
				Sizes:    types.SizesFor("gc", build.Default.GOARCH),
				Error: func(err error) {
					fmt.Fprintln(os.Stderr, err)
					failed = true
				},
			}
			config.Check(pkg.Name, files, parsed, nil)
		}
	}
	if failed {
		os.Exit(1)
	}
}
