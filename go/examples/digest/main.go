// Command digest is an example of two caches that tell each other what they hold: cache B
// publishes a digest, a static filter of its keys, over HTTP; cache A fetches it now and then, and
// asks B only for what may be there. The rest it gets from the origin, which is far away.
//
//	go run ./examples/digest [-objects 50000]
//
// The digest is a hint, and A is right whatever becomes of it. What B has dropped since costs a
// request in vain, and what B has got since a trip to the origin. A digest that comes damaged is
// not used. Without one, or with one that is too old, A asks B about everything.
//
// It runs both caches on this machine, asks A for all objects of B and for as many that B has
// not, and exits with status 1 if A did not ask B for one that is there, or asked too often.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"time"

	bloomline "github.com/bloomline/bloomline/go"
)

func run(w io.Writer, objects int) error {
	if objects < 1 {
		return errors.New("there has to be an object")
	}
	b := &Sibling{objects: make(map[string]string)}
	for i := range objects {
		b.objects[fmt.Sprint("/held/", i)] = fmt.Sprint("object /held/", i)
	}
	if err := b.Publish(); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: b, ReadHeaderTimeout: time.Second}
	go server.Serve(listener) // ends with the Close below
	defer server.Close()

	fromOrigin := 0
	a := &Cache{
		sibling: "http://" + listener.Addr().String(),
		client:  http.Client{Timeout: 10 * time.Second},
		maxAge:  5 * time.Minute,
	}
	a.origin = func(key string) string { fromOrigin++; return "object " + key }

	// ask gets n objects, and returns how often B was asked for them and how many it had.
	ask := func(prefix string, n int) (asked, had int, err error) {
		b.asked.Store(0)
		fromOrigin = 0
		for i := range n {
			key := fmt.Sprint(prefix, i)
			if got := a.Get(key); got != "object "+key {
				return 0, 0, fmt.Errorf("%s is %q", key, got)
			}
		}
		return int(b.asked.Load()), n - fromOrigin, nil
	}

	// everything is asked for when A has no digest to use: B is to be asked for all.
	everything := func(why string) error {
		asked, _, err := ask("/other/", 100)
		if err == nil && asked != 100 {
			err = errors.New("without a digest, A did not ask B")
		}
		fmt.Fprintf(w, "%-9s 100 others asked for, B was asked for %d\n", why, asked)
		return err
	}

	b.damage = true
	fmt.Fprintf(w, "damaged   %v\n", a.Refresh())
	if err := everything("none yet"); err != nil {
		return err
	}

	b.damage = false
	if err := a.Refresh(); err != nil {
		return err
	}
	plain, err := bloomline.ParamsForRate(objects, rate)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "digest    %d bytes for %d objects; a plain Filter has %d\n", len(b.digest), objects, plain.Bytes())
	_, had, err := ask("/held/", objects)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "held      %d asked for, %d came from B\n", objects, had)
	if had != objects {
		return errors.New("A did not ask B for an object that is there")
	}
	asked, _, err := ask("/other/", objects)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "others    %d asked for, B was asked in vain for %d: %.2f %%, %.0f %% expected\n",
		objects, asked, 100*float64(asked)/float64(objects), 100*rate)
	if n := float64(objects); float64(asked) > 1.1*rate*n+5*math.Sqrt(rate*n)+1 {
		return errors.New("the digest is wrong too often")
	}

	delete(b.objects, "/held/0") // the digest is older
	asked, had, err = ask("/held/", 1)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "dropped   1 asked for, B was asked %d time and had %d\n", asked, had)
	a.maxAge = 0
	return everything("too old")
}

func main() {
	objects := flag.Int("objects", 50_000, "`number` of objects in cache B")
	flag.Parse()
	if err := run(os.Stdout, *objects); err != nil {
		fmt.Fprintln(os.Stderr, "digest:", err)
		os.Exit(1)
	}
}
