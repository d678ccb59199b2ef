package goleveldbfilter_test

// What changes in a program.

import (
	"errors"
	"fmt"
	"log"

	"github.com/bloomline/bloomline/go/goleveldbfilter"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/storage"
)

// A store whose tables have filters. Stores that were written with goleveldb's own
// filter.NewBloomFilter are opened the same way.
func Example() {
	db, err := leveldb.Open(storage.NewMemStorage(), &opt.Options{
		Filter: goleveldbfilter.NewBloomFilter(10), // was filter.NewBloomFilter(10)
	})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	if err := db.Put([]byte("apple"), []byte("red"), nil); err != nil {
		log.Fatal(err)
	}
	value, err := db.Get([]byte("apple"), nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("apple: %s\n", value)
	_, err = db.Get([]byte("kiwi"), nil)
	fmt.Println("no kiwi:", errors.Is(err, leveldb.ErrNotFound))
	// Output:
	// apple: red
	// no kiwi: true
}
