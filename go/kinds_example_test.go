package bloomline_test

// Examples of kinds of filters and of the types around them. Those of counting and cuckoo filters are in example_test.go,
// those of growing filters and matrices in files of their own.

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"path/filepath"

	bloomline "github.com/bloomline/bloomline/go"
)

// A crawler starts with room for 1,000 pages. The filter grows with the pages it finds, and keeps its rate.
func ExampleScalableFilter() {
	seen, err := bloomline.NewScalable(1000, 0.01)
	if err != nil {
		log.Fatal(err)
	}
	for page := range uint64(50_000) {
		seen.AddUint64(page)
	}
	fmt.Println(seen.AddStringIfAbsent("https://a.example"), seen.AddStringIfAbsent("https://a.example"))
	fmt.Println(len(seen.Stages()), "stages,", seen.EstimatedRate() < 0.01)
	// Output:
	// true false
	// 6 stages, true
}

// Each user gets a message at most once in 7 days. That takes 8 daily generations: today's and 7 whole ones.
func ExampleWindow() {
	const monday = 20_000 // the time in days, such as time.Now().Unix() / 86400
	sent, err := bloomline.NewWindow(8, 100_000, 0.01)
	if err != nil {
		log.Fatal(err)
	}
	sent.AdvanceTo(monday)
	fmt.Println(sent.AddStringIfAbsent("ann")) // true: send it

	sent.AdvanceTo(monday + 7)
	fmt.Println(sent.ContainsString("ann")) // true: not again yet

	sent.AdvanceTo(monday + 8)
	fmt.Println(sent.ContainsString("ann")) // false: it has expired
	// Output:
	// true
	// true
	// false
}

// Of all certificates that were issued, which are revoked? The answer is exact for every one of them.
func ExampleCascade() {
	revoked := []string{"03:a1", "03:a2"}
	valid := []string{"03:b1", "03:b2", "03:b3"}
	filter, err := bloomline.BuildCascadeStrings(revoked, valid)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(filter.ContainsString("03:a1"), filter.ContainsString("03:a2"))
	fmt.Println(filter.ContainsString("03:b1"), filter.ContainsString("03:b2"), filter.ContainsString("03:b3"))
	fmt.Println(filter.IncludedCount(), filter.ExcludedCount())
	// Output:
	// true true
	// false false false
	// 2 3
}

// Which tables of an LSM tree may have a key? The group is made once, whenever the set of tables changes.
func ExampleGroup() {
	var tables []bloomline.View
	for _, key := range []string{"apple", "pear", "apple"} {
		filter, err := bloomline.New(100, 0.0001)
		if err != nil {
			log.Fatal(err)
		}
		filter.AddString(key)
		tables = append(tables, filter.View())
	}
	group := bloomline.NewGroup(tables)

	var maybe bloomline.Bitmap // used again for each key
	maybe = group.ContainsString("apple", maybe)
	for table := range maybe.All() {
		fmt.Println("look into table", table)
	}
	// Output:
	// look into table 0
	// look into table 2
}

// A static filter is built at once. Here it is made of a list, and handed on as bytes.
func ExampleStaticFilter() {
	builder, err := bloomline.NewStaticBuilder(0.0001)
	if err != nil {
		log.Fatal(err)
	}
	builder.AddStrings([]string{"apple", "pear"})
	filter, err := builder.Build()
	if err != nil {
		log.Fatal(err)
	}
	message, err := filter.MarshalBinary()
	if err != nil {
		log.Fatal(err)
	}
	var received bloomline.StaticFilter
	err = received.UnmarshalBinary(message)
	fmt.Println(received.ContainsString("pear"), received.ContainsString("plum"), err)
	// Output:
	// true false <nil>
}

// A function that takes any kind of filter.
func ExampleProber() {
	unknown := func(filter bloomline.Prober, names []string) (absent int) {
		for range filter.ContainsStrings(names, nil).Unset(len(names)) {
			absent++
		}
		return absent
	}
	plain, err := bloomline.New(1000, 0.0001)
	if err != nil {
		log.Fatal(err)
	}
	window, err := bloomline.NewWindow(8, 1000, 0.0001)
	if err != nil {
		log.Fatal(err)
	}
	plain.AddString("ann")
	window.AddStrings([]string{"ann", "bob"})
	names := []string{"ann", "bob", "eve"}
	fmt.Println(unknown(plain, names), unknown(window, names))
	// Output:
	// 2 1
}

// A join of keys with the filters of many tables: the answers are pairs of a key and a table.
func ExampleMatrix_SelectHashes() {
	params, err := bloomline.ParamsForRate(1000, 0.0001)
	if err != nil {
		log.Fatal(err)
	}
	matrix, err := bloomline.NewMatrix(params, 100)
	if err != nil {
		log.Fatal(err)
	}
	for table, key := range map[int]string{7: "apple", 93: "pear"} {
		if err := matrix.AddString(table, key); err != nil {
			log.Fatal(err)
		}
	}
	keys := []string{"apple", "plum", "pear"}
	var hashes []uint64
	for _, key := range keys {
		hashes = append(hashes, bloomline.HashString(key, params.Seed))
	}
	for _, pair := range matrix.SelectHashes(hashes, nil) {
		fmt.Println("look for", keys[pair.Key], "in table", pair.Column)
	}
	// Output:
	// look for apple in table 7
	// look for pear in table 93
}

// A matrix in a file that all processes share.
func ExampleMappedMatrix() {
	dir, err := os.MkdirTemp("", "matrix")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "tables.matrix")

	matrix, err := bloomline.NewMatrix(bloomline.Params{LineCount: 20, K: 6}, 100)
	if err != nil {
		log.Fatal(err)
	}
	if err := matrix.AddString(42, "apple"); err != nil {
		log.Fatal(err)
	}
	if err := matrix.Save(path); err != nil {
		log.Fatal(err)
	}

	mapped, err := bloomline.OpenMatrix(path)
	if err != nil {
		log.Fatal(err)
	}
	defer mapped.Close()
	fmt.Println(mapped.ContainsString("apple", nil).Has(42), mapped.Columns())
	// Output:
	// true 100
}

// A copy of a growing filter elsewhere: it starts from the whole journal, then takes what changed.
func ExampleReplayJournal() {
	filter, err := bloomline.NewGrowing(1000, 0.0001)
	if err != nil {
		log.Fatal(err)
	}
	var journal bytes.Buffer // a file, as a rule: see Journal
	filter.AddString("ann")
	if err := filter.SaveWhole(&journal, 1); err != nil {
		log.Fatal(err)
	}
	replayed, err := bloomline.ReplayJournal(bytes.NewReader(journal.Bytes()))
	if err != nil {
		log.Fatal(err)
	}
	replica := replayed.Filter

	filter.AddString("bob")
	if err := filter.SaveChanged(&journal, 2); err != nil {
		log.Fatal(err)
	}
	patch, err := bloomline.PatchSince(journal.Bytes(), replayed.Sequence)
	if err != nil {
		log.Fatal(err)
	}
	sequence, err := replica.ApplyPatch(patch)
	fmt.Println(replica.ContainsString("ann"), replica.ContainsString("bob"), sequence, err)
	// Output:
	// true true 2 <nil>
}
