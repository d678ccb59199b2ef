package bloomline_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	bloomline "github.com/bloomline/bloomline/go"
)

// Who is logged in: nobody knows how many there will be, and they leave again. Each server has a filter of its own
// users, and sends the others its bytes.
func ExampleGrowingFilter() {
	const seed = 42 // the same on all servers
	here, err := bloomline.NewGrowingUnbounded(1000, 0.01, bloomline.WithSeed(seed))
	if err != nil {
		log.Fatal(err)
	}
	here.AddStrings([]string{"ann", "bob", "bob"}) // bob has two devices
	err = here.RemoveString("bob")
	fmt.Println(here.ContainsString("bob"), here.CountString("bob"), here.KeyCount(), err)

	there, err := bloomline.NewGrowingUnbounded(1000, 0.01, bloomline.WithSeed(seed))
	if err != nil {
		log.Fatal(err)
	}
	there.AddString("eve")

	message, err := there.MarshalBinary()
	if err != nil {
		log.Fatal(err)
	}
	var received bloomline.GrowingFilter
	if err := received.UnmarshalBinary(message); err != nil {
		log.Fatal(err)
	}
	err = here.Union(&received)
	fmt.Println(here.ContainsString("eve"), here.ContainsString("ann"), here.KeyCount(), err)
	// Output:
	// true 1 2 <nil>
	// true true 3 <nil>
}

// Names that are taken survive a crash, and the log of the service says what came after.
func ExampleJournal() {
	dir, err := os.MkdirTemp("", "journal")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "names.journal")

	filter, err := bloomline.NewGrowing(1_000_000, 0.01)
	if err != nil {
		log.Fatal(err)
	}
	journal, err := bloomline.CreateJournal(path, filter, 0)
	if err != nil {
		log.Fatal(err)
	}
	filter.AddString("ann")
	if err := journal.SaveChanged(filter, 17); err != nil { // block 17 is on the disk: acknowledge it
		log.Fatal(err)
	}
	filter.AddString("bob")
	if err := journal.Close(); err != nil { // or a crash
		log.Fatal(err)
	}

	journal, filter, err = bloomline.OpenJournal(path) // after a restart
	if err != nil {
		log.Fatal(err)
	}
	defer journal.Close()
	fmt.Println(journal.Sequence(), filter.ContainsString("ann"), filter.ContainsString("bob"))
	// Output: 17 true false
}
