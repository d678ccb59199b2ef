package bloomline_test

import (
	"fmt"

	bloomline "github.com/bloomline/bloomline/go"
)

// Which of 500 tables may have a key?
func ExampleMatrix() {
	params, err := bloomline.ParamsForRate(1000, 0.01) // keys of a table, rate
	if err != nil {
		panic(err)
	}
	matrix, err := bloomline.NewMatrix(params, 500)
	if err != nil {
		panic(err)
	}
	table, err := bloomline.NewWithParams(params)
	if err != nil {
		panic(err)
	}
	table.AddString("apple")
	if err := matrix.SetColumn(123, table.View()); err != nil {
		panic(err)
	}
	for column := range matrix.ContainsString("apple", nil).All() {
		fmt.Println("ask table", column)
	}
	// Output: ask table 123
}

// Lookups in a matrix in an object store: once its last 64 bytes, then one range for each key.
func ExampleMatrixShape() {
	matrix, err := bloomline.NewMatrix(bloomline.Params{LineCount: 20, K: 6}, 500)
	if err != nil {
		panic(err)
	}
	if err := matrix.AddString(123, "apple"); err != nil {
		panic(err)
	}
	matrix.SetChecksums(true)
	store, err := matrix.MarshalBinary()
	if err != nil {
		panic(err)
	}
	read := func(r bloomline.ByteRange) []byte { return store[r.Offset:r.End()] }

	shape, err := bloomline.ReadMatrixShape(store[len(store)-64:], int64(len(store)))
	if err != nil {
		panic(err)
	}
	hash := shape.Hash([]byte("apple"))
	group := shape.Range(hash)
	bytes := read(group)
	if err := shape.VerifyRange(group, bytes, read(shape.ChecksumOf(group))); err != nil {
		panic(err)
	}
	maybe, err := shape.ContainsIn(bytes, hash, nil)
	fmt.Println(maybe.Has(123), maybe.Count(), err)
	fmt.Println(group.Length, "of", len(store), "bytes")
	// Output:
	// true 1 <nil>
	// 32768 of 655584 bytes
}
