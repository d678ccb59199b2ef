package goleveldbfilter_test

// Keys for the tests and benchmarks.

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
)

// keyKinds are what the tests and benchmarks take for keys: sorted, as a table has them.
// Other seeds make other keys.
var keyKinds = []struct {
	name string
	make func(count int, seed uint64) [][]byte
}{
	{"random16", func(count int, seed uint64) [][]byte {
		random := rand.NewChaCha8([32]byte{byte(seed)})
		keys := make([][]byte, count)
		for i := range keys {
			keys[i] = make([]byte, 16)
			_, _ = random.Read(keys[i])
		}
		slices.SortFunc(keys, bytes.Compare)
		return packed(keys)
	}},
	{"paths", func(count int, seed uint64) [][]byte {
		random := rand.New(rand.NewPCG(seed, 1))
		words := []string{"usr", "share", "lib", "doc", "include", "src", "python3", "x86_64-linux-gnu", "locale"}
		seen := make(map[string]bool, count)
		keys := make([][]byte, 0, count)
		for len(keys) < count {
			path := ""
			for range 2 + random.IntN(5) {
				path += "/" + words[random.IntN(len(words))]
			}
			path += fmt.Sprintf("/file-%d-%x.txt", seed, random.IntN(16*count))
			if !seen[path] {
				seen[path] = true
				keys = append(keys, []byte(path))
			}
		}
		slices.SortFunc(keys, bytes.Compare)
		return packed(keys)
	}},
}

// packed lays keys one behind the other in memory, so that benchmarks measure filters.
func packed(keys [][]byte) [][]byte {
	all := bytes.Join(keys, nil)
	packed := make([][]byte, len(keys))
	for i, key := range keys {
		n := len(key)
		packed[i], all = all[:n:n], all[n:]
	}
	return packed
}

// sample is some of the keys, in any order.
func sample(keys [][]byte, count int) [][]byte {
	keys = slices.Clone(keys)
	rand.New(rand.NewPCG(5, 5)).Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	return packed(keys[:min(count, len(keys))])
}
