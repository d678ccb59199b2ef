package filterblock_test

import (
	"fmt"
	"testing"

	bloomline "github.com/bloomline/bloomline/go"
	"github.com/bloomline/bloomline/go/filterblock"
)

// A block has all its keys, and few others, for the package that reads blocks as well. That the
// engines read them, and write the same bytes, is tested in the adapters.
func TestBlocks(t *testing.T) {
	for _, n := range []int{1, 10, 1000} {
		var pebbleHashes, levelHashes []uint32
		key := func(i int) []byte { return fmt.Appendf(nil, "key %d", i) }
		for i := range n {
			pebbleHashes = append(pebbleHashes, filterblock.PebbleHash(key(i)))
			levelHashes = append(levelHashes, filterblock.LevelDBHash(key(i)))
		}
		all, pebble := filterblock.StartPebble([]byte("before"), n, 10)
		filterblock.AddPebble(pebble, pebbleHashes[:n/2])
		filterblock.AddPebble(pebble, pebbleHashes[n/2:])
		level := make([]byte, filterblock.LevelDBLen(n, 10))
		for i := range level {
			level[i] = 0xFF // of another filter
		}
		filterblock.PutLevelDB(level, levelHashes, 10)
		if string(all) != "before"+string(pebble) {
			t.Error("the block is not where it was appended")
		}
		for name, block := range map[string]struct {
			bytes    []byte
			contains func(block, key []byte) bool
			open     func([]byte) (bloomline.View, error)
		}{
			"Pebble":  {pebble, filterblock.PebbleContains, bloomline.OpenPebble},
			"LevelDB": {level, filterblock.LevelDBContains, bloomline.OpenLevelDB},
		} {
			view, err := block.open(block.bytes)
			if err != nil {
				t.Fatal(err)
			}
			wrong := 0
			for i := range 10_000 {
				is := block.contains(block.bytes, key(i))
				if is != view.Contains(key(i)) || i < n && !is {
					t.Fatalf("%s: key %d of %d: %v", name, i, n, is)
				}
				if i >= n && is {
					wrong++
				}
			}
			if wrong > 300 {
				t.Errorf("%s, %d keys: %d false positives", name, n, wrong)
			}
		}
	}
	if !filterblock.PebbleContains(make([]byte, 9), nil) || !filterblock.LevelDBContains([]byte{1, 0}, nil) {
		t.Error("a block without sense hides a key")
	}
}
