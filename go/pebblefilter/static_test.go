package pebblefilter_test

// Static filters in real stores, beside Pebble's own, and as bytes.

import (
	"fmt"
	"math"
	"testing"

	"github.com/bloomline/bloomline/go/pebblefilter"
	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
)

const static = pebblefilter.StaticFilterPolicy(0.01)

// staticBlock is the filter of some keys.
func staticBlock(policy pebblefilter.StaticFilterPolicy, keys [][]byte) []byte {
	writer := policy.NewWriter(pebble.TableFilter)
	for _, key := range keys {
		writer.AddKey(key)
		writer.AddKey(key)
	}
	return writer.Finish(nil)
}

func TestStaticBlocks(t *testing.T) {
	for _, kind := range keyKinds {
		present, absent := kind.make(20_000, 1), kind.make(20_000, 2)
		for _, rate := range []float64{0.5, 0.01, 0.0001} {
			for _, n := range []int{0, 1, 2, 100, 20_000} {
				policy := pebblefilter.StaticFilterPolicy(rate)
				block := staticBlock(policy, present[:n])
				for _, key := range present[:n] {
					if !policy.MayContain(pebble.TableFilter, block, key) {
						t.Fatalf("%s, %d keys, rate %g: a false negative", kind.name, n, rate)
					}
				}
				wrong := 0
				for _, key := range absent {
					if policy.MayContain(pebble.TableFilter, block, key) {
						wrong++
					}
				}
				most := min(rate, 1.0/16) * float64(len(absent))
				if float64(wrong) > most+6*math.Sqrt(most)+1 {
					t.Errorf("%s, %d keys, rate %g: %d of %d absent keys", kind.name, n, rate, wrong, len(absent))
				}
			}
		}
	}
}

// A writer makes one table's filter after the other, behind what is in the buffer.
func TestStaticWriterIsUsedAgain(t *testing.T) {
	keys := keyKinds[0].make(3000, 1)
	writer := static.NewWriter(pebble.TableFilter)
	for round := range 3 {
		for _, key := range keys {
			writer.AddKey(key)
		}
		got := writer.Finish([]byte("before"))
		if want := "before" + string(staticBlock(static, keys)); string(got) != want {
			t.Fatalf("round %d: other bytes", round)
		}
	}
}

// Whatever the bytes are, nothing panics; what cannot be read answers "maybe".
func TestStaticDamage(t *testing.T) {
	keys := keyKinds[0].make(300, 1)
	block := staticBlock(static, keys)
	for cut := range block {
		for _, part := range [][]byte{block[:cut], block[len(block)-cut:]} {
			if !static.MayContain(pebble.TableFilter, part, keys[0]) {
				t.Fatalf("cut to %d bytes: absent", cut)
			}
		}
	}
	for i := len(block) - 64; i < len(block); i++ {
		damaged := append([]byte(nil), block...)
		damaged[i] ^= 0x10
		if !static.MayContain(pebble.TableFilter, damaged, keys[0]) {
			t.Fatalf("byte %d of the footer changed: absent", i-len(block)+64)
		}
	}
	for i := range len(block) - 64 {
		damaged := append([]byte(nil), block...)
		damaged[i] ^= 0xFF
		static.MayContain(pebble.TableFilter, damaged, keys[0])
	}
	if !static.MayContain(pebble.TableFilter+1, block, []byte("absent")) {
		t.Error("another type of filter: absent")
	}
}

func TestStaticRates(t *testing.T) {
	for _, rate := range []float64{0, -1, 1, 2, 1e-9, math.NaN(), math.Inf(1)} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("rate %g: no panic", rate)
				}
			}()
			pebblefilter.StaticFilterPolicy(rate).NewWriter(pebble.TableFilter)
		}()
	}
}

// A store finds all keys with any policy, whatever wrote it, and uses the filters whose policies it
// is given.
func TestStaticStores(t *testing.T) {
	builtin := bloom.FilterPolicy(10)
	present, absent := keyKinds[0].make(storeKeys, 1), keyKinds[0].make(storeKeys, 2)
	for _, test := range []struct {
		writer, reader pebble.FilterPolicy
		besides        pebble.FilterPolicy
		used           bool
	}{
		{static, static, nil, true},
		{static, builtin, nil, false},
		{static, builtin, static, true},
		{builtin, static, nil, false},
		{builtin, static, pebblefilter.FilterPolicy(10), true},
	} {
		name := fmt.Sprintf("written by %s, read by %s, besides %v", test.writer.Name(), test.reader.Name(), test.besides)
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			db := open(t, dir, options(test.writer))
			fill(t, db, present)
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			opts := options(test.reader)
			if test.besides != nil {
				opts.Filters = map[string]pebble.FilterPolicy{test.besides.Name(): test.besides}
			}
			db = open(t, dir, opts)
			if found := ask(t, db, present); found != len(present) {
				t.Errorf("%d of %d keys found", found, len(present))
			}
			before := db.Metrics().Filter
			if found := ask(t, db, absent[:storeKeys/10]); found != 0 {
				t.Errorf("%d absent keys found", found)
			}
			hits := db.Metrics().Filter.Hits - before.Hits
			asked := int64(storeKeys / 10 * tables)
			if used := float64(hits) > 0.985*float64(asked); used != test.used {
				t.Errorf("%d of %d tables were not searched", hits, asked)
			}
			// Compacted, the tables have filters of the reader's own policy.
			if err := db.Compact(t.Context(), present[0][:0], []byte{0xFF, 0xFF}, false); err != nil {
				t.Fatal(err)
			}
			if found := ask(t, db, present); found != len(present) {
				t.Errorf("compacted: %d of %d keys found", found, len(present))
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}
