package pebblefilter_test

// What changes in a program.

import (
	"errors"
	"fmt"
	"log"

	"github.com/bloomline/bloomline/go/pebblefilter"
	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// A store whose tables have filters. Stores that were written with Pebble's own
// bloom.FilterPolicy are opened the same way.
func Example() {
	opts := &pebble.Options{FS: vfs.NewMem()}
	for i := range opts.Levels {
		opts.Levels[i].FilterPolicy = pebblefilter.FilterPolicy(10) // was bloom.FilterPolicy(10)
	}
	db, err := pebble.Open("store", opts)
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	if err := db.Set([]byte("apple"), []byte("red"), pebble.Sync); err != nil {
		log.Fatal(err)
	}
	if err := db.Set([]byte("lemon"), []byte("yellow"), pebble.Sync); err != nil {
		log.Fatal(err)
	}
	if err := db.Flush(); err != nil { // into a table, with its filter
		log.Fatal(err)
	}
	value, closer, err := db.Get([]byte("apple"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("apple: %s\n", value)
	if err := closer.Close(); err != nil {
		log.Fatal(err)
	}
	_, _, err = db.Get([]byte("kiwi"))
	fmt.Println("no kiwi:", errors.Is(err, pebble.ErrNotFound))
	fmt.Println("tables not searched:", db.Metrics().Filter.Hits)
	// Output:
	// apple: red
	// no kiwi: true
	// tables not searched: 1
}

// Static filters take a quarter less memory, and only this policy reads them.
func ExampleStaticFilterPolicy() {
	opts := &pebble.Options{FS: vfs.NewMem()}
	for i := range opts.Levels {
		opts.Levels[i].FilterPolicy = pebblefilter.StaticFilterPolicy(0.01) // a false-positive rate
	}
	db, err := pebble.Open("store", opts)
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	if err := db.Set([]byte("apple"), []byte("red"), pebble.Sync); err != nil {
		log.Fatal(err)
	}
	if err := db.Flush(); err != nil {
		log.Fatal(err)
	}
	_, _, err = db.Get([]byte("kiwi"))
	fmt.Println("no kiwi:", errors.Is(err, pebble.ErrNotFound))
	// Output:
	// no kiwi: true
}
