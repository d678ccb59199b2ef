package bloomline_test

import (
	"fmt"
	"log"

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
