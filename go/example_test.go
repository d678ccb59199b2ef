package bloomline_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"

	bloomline "github.com/bloomline/bloomline/go"
)

func Example() {
	filter, err := bloomline.New(1_000_000, 0.01) // keys, false-positive rate
	if err != nil {
		log.Fatal(err)
	}
	filter.AddString("apple")
	fmt.Println(filter.ContainsString("apple"), filter.ContainsString("plum")) // true false

	maybe := filter.ContainsStrings([]string{"apple", "plum"}, nil) // a batch: maybe.Has(1) is for "plum"
	fmt.Println(maybe.Has(0), maybe.Has(1))                         // true false

	path := filepath.Join(os.TempDir(), "fruit.bloomline")
	defer os.Remove(path)
	err = filter.Save(path) // replaces the file atomically
	if err != nil {
		log.Fatal(err)
	}
	loaded, err := bloomline.Load(path) // fails on damaged bytes
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(loaded.ContainsString("apple"))

	message := struct{ Seen *bloomline.Filter }{filter} // JSON, gob, XML: a field as any other
	text, err := json.Marshal(message)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(text) > 0)
	// Output:
	// true false
	// true false
	// true
	// true
}

// Many keys at once: each is faster, since the waits for memory overlap.
func ExampleFilter_ContainsBatch() {
	filter, err := bloomline.New(1000, 0.01)
	if err != nil {
		log.Fatal(err)
	}
	filter.AddBatch([][]byte{[]byte("apple"), []byte("pear")})

	keys := [][]byte{[]byte("apple"), []byte("plum"), []byte("pear")}
	var answers bloomline.Bitmap // used again for each batch
	answers = filter.ContainsBatch(keys, answers)
	for i := range answers.All() {
		fmt.Printf("%s may be in\n", keys[i])
	}
	// Output:
	// apple may be in
	// pear may be in
}

// A hash that is made once serves all filters of its seed.
func ExampleFilter_ContainsHashes() {
	var shards [4]*bloomline.Filter
	for i := range shards {
		filter, err := bloomline.New(1000, 0.01)
		if err != nil {
			log.Fatal(err)
		}
		shards[i] = filter
	}
	shards[2].AddHash(bloomline.HashUint64(4711, 0))

	ids := []uint64{4711, 4712}
	hashes := make([]uint64, len(ids))
	for i, id := range ids {
		hashes[i] = bloomline.HashUint64(id, 0)
	}
	var answers bloomline.Bitmap
	for i, shard := range shards {
		answers = shard.ContainsHashes(hashes, answers)
		fmt.Println("shard", i, answers.Has(0), answers.Has(1))
	}
	// Output:
	// shard 0 false false
	// shard 1 false false
	// shard 2 true false
	// shard 3 false false
}

// A service that replaces its filter while others read it: readers load it, once for
// each request, and keep what they have loaded. Nobody waits for anybody, and no reader ever
// sees a filter that is half built.
//
// Keys that are added while the new filter is being built have to get into both: go/examples/guard
// of the project is a service that does it.
func ExampleSwap() {
	var current bloomline.Swap[bloomline.Filter]

	rebuild := func(keys []string) error {
		filter, err := bloomline.New(len(keys), 0.01)
		if err != nil {
			return err
		}
		filter.AddStrings(keys) // nobody else has it yet
		current.Publish(filter)
		return nil
	}
	if err := rebuild([]string{"apple", "pear"}); err != nil {
		log.Fatal(err)
	}

	filter := current.Load() // in any goroutine
	fmt.Println(filter.ContainsString("apple"))

	if err := rebuild([]string{"plum"}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(filter.ContainsString("plum"), current.Load().ContainsString("plum"))
	// Output:
	// true
	// false true
}

// A crawler whose goroutines visit each address once, as far as the filter can tell: one in a
// hundred is taken for visited that is not.
func ExampleConcurrentFilter() {
	seen, err := bloomline.NewConcurrent(1_000_000, 0.01)
	if err != nil {
		log.Fatal(err)
	}
	found := []string{"https://a.example", "https://b.example", "https://a.example"}
	isNew := seen.AddStringsIfAbsent(found, nil) // in any number of goroutines at once
	for i := range isNew.All() {
		fmt.Println("visit", found[i])
	}
	fmt.Println(seen.AddStringIfAbsent("https://b.example"))
	// Output:
	// visit https://a.example
	// visit https://b.example
	// false
}

// A filter in front of a cache whose entries expire: what leaves the cache leaves the filter.
func ExampleCountingFilter() {
	cached, err := bloomline.NewCounting(100_000, 0.01)
	if err != nil {
		log.Fatal(err)
	}
	cached.AddString("session 17")
	cached.AddString("session 18")
	cached.AddString("session 18") // once more

	err = cached.RemoveString("session 17")
	fmt.Println(cached.ContainsString("session 17"), cached.CountString("session 18"), err)

	// What was never in is not removed.
	err = cached.RemoveString("session 99")
	fmt.Println(errors.Is(err, bloomline.ErrAbsent))
	// Output:
	// false 2 <nil>
	// true
}

// A list of what is revoked, from which entries are taken again, in 13.5 bits for each.
func ExampleCuckooFilter() {
	revoked, err := bloomline.NewCuckoo(1_000_000, 0.002)
	if err != nil {
		log.Fatal(err)
	}
	for _, serial := range []string{"03:a1", "03:a2"} {
		if err := revoked.AddString(serial); err != nil {
			log.Fatal(err) // bloomline.ErrFull: a larger filter is needed; nothing is lost
		}
	}
	err = revoked.RemoveString("03:a1")
	fmt.Println(revoked.ContainsString("03:a1"), revoked.ContainsString("03:a2"), err)

	// Who reads it needs no more than its bytes.
	message, err := revoked.MarshalBinary()
	if err != nil {
		log.Fatal(err)
	}
	view, err := bloomline.OpenView(message)
	fmt.Println(view.ContainsString("03:a2"), view.KeyCount(), err)
	// Output:
	// false true <nil>
	// true 1 <nil>
}

// A list that is built once and handed to many readers, in 8.5 bits for each key.
func ExampleStaticBuilder() {
	builder, err := bloomline.NewStaticBuilder(0.004)
	if err != nil {
		log.Fatal(err)
	}
	for i := range uint64(100_000) {
		builder.AddUint64(i)
	}
	filter, err := builder.Build()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(filter.ContainsUint64(99_999), filter.ContainsUint64(100_000))
	fmt.Printf("%.1f bits per key\n", float64(filter.Bytes())*8/100_000)
	// Output:
	// true false
	// 8.5 bits per key
}

// A filter of keys that are all known.
func ExampleBuildStatic() {
	filter, err := bloomline.BuildStatic([][]byte{[]byte("apple"), []byte("pear")}, 0.01)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(filter.ContainsString("apple"), filter.ContainsString("plum"))

	block, err := filter.MarshalBinary()
	if err != nil {
		log.Fatal(err)
	}
	view, err := bloomline.OpenView(block) // where the bytes lie
	fmt.Println(view.ContainsString("pear"), err)
	// Output:
	// true false
	// true <nil>
}

// A file that is mapped, not read: it is there at once, and all processes share it.
func ExampleOpen() {
	path := filepath.Join(os.TempDir(), fmt.Sprint("bloomline-example-", os.Getpid()))
	defer os.Remove(path)

	filter, err := bloomline.New(1000, 0.01)
	if err != nil {
		log.Fatal(err)
	}
	filter.AddString("apple")
	if err := filter.Save(path); err != nil {
		log.Fatal(err)
	}

	mapped, err := bloomline.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	defer mapped.Close()
	fmt.Println(mapped.KeyCount(), mapped.ContainsString("apple"), mapped.ContainsString("plum"))

	_, err = bloomline.Open(path + ".none")
	fmt.Println(errors.Is(err, os.ErrNotExist))
	// Output:
	// 1 true false
	// true
}

// A filter as a message: of a peer's cache, say.
func ExampleFilter_WriteTo() {
	filter, err := bloomline.New(100, 0.01)
	if err != nil {
		log.Fatal(err)
	}
	filter.AddString("apple")

	var message bytes.Buffer
	if _, err := filter.WriteTo(&message); err != nil {
		log.Fatal(err)
	}
	fmt.Println(message.Len(), "bytes")

	var received bloomline.Filter
	if _, err := received.ReadFrom(&message); err != nil {
		log.Fatal(err)
	}
	fmt.Println(received.ContainsString("apple"))
	// Output:
	// 192 bytes
	// true
}

// A filter in bytes that are already there: no copy, no allocation.
func ExampleOpenView() {
	filter, err := bloomline.New(100, 0.01)
	if err != nil {
		log.Fatal(err)
	}
	filter.AddString("apple")
	block, err := filter.MarshalBinary()
	if err != nil {
		log.Fatal(err)
	}

	view, err := bloomline.OpenView(block)
	fmt.Println(view.ContainsString("apple"), view.ContainsString("plum"), err)

	// What is damaged is refused, and answers yes: no key is lost.
	block[0] ^= 1
	view, err = bloomline.OpenView(block)
	fmt.Println(view.ContainsString("plum"), errors.Is(err, bloomline.ErrChecksum))
	// Output:
	// true false <nil>
	// true true
}

// A filter block as it stands in a RocksDB table.
func ExampleOpenRocksDB() {
	// Of the keys "hello" and "world", with 10 bits each.
	block, err := hex.DecodeString("00000001004100000000000002000002000200008000000000000000000000" +
		"000000000000000000020800000000400000000000000040000000080000000000ff00060000")
	if err != nil {
		log.Fatal(err)
	}
	view, err := bloomline.OpenRocksDB(block)
	fmt.Println(view.ContainsString("hello"), view.ContainsString("other"), err)
	// Output:
	// true false <nil>
}

// The shape of a filter, without making one.
func ExampleParamsForRate() {
	params, err := bloomline.ParamsForRate(1_000_000, 0.01)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.1f bits per key, %d of them set\n", float64(params.Bytes())*8/1e6, params.K)
	fmt.Printf("%.2f %% with twice as many keys\n", params.Rate(2_000_000)*100)
	// Output:
	// 9.9 bits per key, 6 of them set
	// 12.30 % with twice as many keys
}

// A filter for a number of keys that is known only afterwards.
func ExampleFilter_FoldToRate() {
	params, err := bloomline.ParamsForRate(1_000_000, 0.01) // at most so many
	if err == nil {
		params, err = params.Foldable(10) // can be halved ten times
	}
	if err != nil {
		log.Fatal(err)
	}
	filter, err := bloomline.NewWithParams(params)
	if err != nil {
		log.Fatal(err)
	}
	for i := range 20_000 {
		filter.AddString(fmt.Sprint("key ", i))
	}
	folds, err := filter.FoldToRate(0.01)
	fmt.Println("halved", folds, "times,", err)
	fmt.Printf("%d bytes instead of %d\n", filter.Params().Bytes(), params.Bytes())
	// Output:
	// halved 5 times, <nil>
	// 38912 bytes instead of 1245184
}

// Filters one behind the other, in a stream that goes on.
func ExampleFilter_WriteDelimited() {
	var stream bytes.Buffer
	for _, key := range []string{"apple", "pear"} {
		filter, err := bloomline.New(100, 0.01)
		if err != nil {
			log.Fatal(err)
		}
		filter.AddString(key)
		if _, err := filter.WriteDelimited(&stream); err != nil {
			log.Fatal(err)
		}
	}

	for {
		var filter bloomline.Filter
		_, err := filter.ReadDelimited(&stream, 1<<20) // 1 MiB at most
		if err == io.EOF {
			break
		}
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(filter.ContainsString("apple"), filter.ContainsString("pear"))
	}
	// Output:
	// true false
	// false true
}

// A filter in JSON is a string.
func ExampleFilter_UnmarshalText() {
	type record struct {
		Name string
		Seen bloomline.Filter
	}
	filter, err := bloomline.New(10, 0.01)
	if err != nil {
		log.Fatal(err)
	}
	filter.AddString("apple")
	data, err := json.Marshal(map[string]any{"Name": "fruit", "Seen": filter})
	if err != nil {
		log.Fatal(err)
	}
	var read record
	if err := json.Unmarshal(data, &read); err != nil {
		log.Fatal(err)
	}
	fmt.Println(read.Name, read.Seen.ContainsString("apple"), read.Seen.ContainsString("pear"))
	// Output:
	// fruit true false
}

// record embeds a filter, and would have its text form: in JSON a string, without the name. So it has
// methods of its own, which encoding/json prefers, and the compiler sees that it has.
type record struct {
	*bloomline.Filter
	Name string
}

var (
	_ json.Marshaler   = record{}
	_ json.Unmarshaler = (*record)(nil)
)

// named is the same with a name for the filter: it needs no methods. Where nothing is called by way of the
// struct, take this alone.
type named struct {
	Seen *bloomline.Filter
	Name string
}

func (r record) MarshalJSON() ([]byte, error) {
	return json.Marshal(named{r.Filter, r.Name})
}

func (r *record) UnmarshalJSON(data []byte) error {
	var read named
	err := json.Unmarshal(data, &read)
	r.Filter, r.Name = read.Seen, read.Name
	return err
}

// A struct that embeds a filter, and one that does not say what it is in JSON.
func ExampleFilter_embedded() {
	filter, err := bloomline.New(10, 0.01)
	if err != nil {
		log.Fatal(err)
	}
	filter.AddString("apple")
	data, err := json.Marshal(record{filter, "fruit"})
	if err != nil {
		log.Fatal(err)
	}
	var read record
	if err := json.Unmarshal(data, &read); err != nil {
		log.Fatal(err)
	}
	fmt.Println(read.Name, read.ContainsString("apple"), read.ContainsString("pear"))

	type nameless struct {
		*bloomline.Filter
		Name string
	}
	data, err = json.Marshal(nameless{filter, "lost"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(data[0] == '"', strings.Contains(string(data), "lost"))
	// Output:
	// fruit true false
	// true false
}

// Tables of an LSM tree, each with a seed of its own, asked for one key.
func ExampleViewsContain() {
	var views []bloomline.View
	for _, key := range []string{"apple", "pear", "apple"} {
		filter, err := bloomline.New(100, 0.01, bloomline.WithRandomSeed())
		if err != nil {
			log.Fatal(err)
		}
		filter.AddString(key)
		views = append(views, filter.View())
	}
	answers := bloomline.ViewsContain(views, []byte("apple"), nil)
	fmt.Println(answers.Has(0), answers.Has(2))
	// Output:
	// true true
}
