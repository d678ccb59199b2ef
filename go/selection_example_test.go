package bloomline_test

// Columns of a table, and the rows that may be present.

import (
	"fmt"

	"github.com/bloomline/bloomline/go"
)

func ExampleSelectUint64s() {
	customers, err := bloomline.New(1000, 0.0001)
	if err != nil {
		panic(err)
	}
	items, err := bloomline.New(1000, 0.0001)
	if err != nil {
		panic(err)
	}
	customers.AddUint64(7)
	customers.AddUint64(9)
	items.AddStrings([]string{"pear", "plum"})

	id := []uint64{7, 8, 9, 7}
	item := []string{"pear", "plum", "apple", "plum"}
	var rows []uint32 // to be used again
	rows = bloomline.SelectUint64s(customers, id, rows)
	fmt.Println(rows)
	rows = bloomline.RefineStrings(items, item, rows)
	for _, row := range rows {
		fmt.Println(id[row], item[row])
	}
	// Output:
	// [0 2 3]
	// 7 pear
	// 7 plum
}

func ExampleSelectBytes() {
	filter, err := bloomline.New(1000, 0.0001)
	if err != nil {
		panic(err)
	}
	filter.AddStrings([]string{"apple", "pear"})
	offsets, data := []int32{0, 5, 9, 13}, []byte("appleplumpear") // as Apache Arrow has strings
	fmt.Println(bloomline.SelectBytes(filter, offsets, data, []uint16(nil)))
	// Output: [0 2]
}

func ExampleBitmap_Unset() {
	filter, err := bloomline.New(1000, 0.0001)
	if err != nil {
		panic(err)
	}
	filter.AddString("apple")
	keys := []string{"plum", "apple", "pear"}
	for i := range filter.ContainsStrings(keys, nil).Unset(len(keys)) {
		fmt.Println(keys[i], "is definitely absent")
	}
	// Output:
	// plum is definitely absent
	// pear is definitely absent
}
