package bloomline_test

// Columns of a table, and the rows that may be present.

import (
	"fmt"
	"sync"

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

func ExampleConcurrentBuilder() {
	params, err := bloomline.ParamsForRateWithin(1_000_000, 0.01, 1<<20) // 1 % takes 1.2 MB
	if err != nil {
		panic(err)
	}
	fmt.Printf("at most %.0f %%\n", 100*params.Rate(1_000_000))
	builder, err := bloomline.NewConcurrentBuilder(params)
	if err != nil {
		panic(err)
	}
	validity := bloomline.Validity{Bits: []byte{0b011}} // row 2 is null
	var all sync.WaitGroup
	for part := range uint64(4) {
		all.Add(1)
		go func() {
			defer all.Done()
			builder.AddUint64s([]uint64{3 * part, 3*part + 1, 3*part + 2}, validity)
		}()
	}
	all.Wait()
	fmt.Println(builder.KeyCount(), "keys")

	filter, err := builder.FinishToRate(0.01, 0.3) // nil if more than 30 % of absent keys pass
	if err != nil {
		panic(err)
	}
	fmt.Println(filter.ContainsUint64(10), filter.ContainsUint64(11))
	// Output:
	// at most 2 %
	// 8 keys
	// true false
}
