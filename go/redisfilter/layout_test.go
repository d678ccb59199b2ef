package redisfilter

// The layout, against testdata/layout.txt, which testdata/layout.py wrote from docs/REDIS.md and
// docs/FORMAT.md alone. No server.

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	bloomline "github.com/bloomline/bloomline/go"
)

func TestGoldenLayout(t *testing.T) {
	file, err := os.Open("testdata/layout.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var name string
	var d description
	var shards [][]byte
	seen := make(map[string]int)
	for lines := bufio.NewScanner(file); lines.Scan(); {
		kind, rest, _ := strings.Cut(lines.Text(), " ")
		seen[kind]++
		switch kind {
		case "name":
			name = rest
		case "description":
			if d, err = parseDescription(rest); err != nil {
				t.Fatal(err)
			}
			if d.text() != rest {
				t.Errorf("%q is written as %q", rest, d.text())
			}
			shards = make([][]byte, d.shards)
			for i := range shards {
				shards[i] = append(make([]byte, d.footerAt()), footer{params: d.params}.bytes()...)
			}
		case "add": // a key, its shard, and the bits that are set there
			var key, bits string
			var shard int
			if _, err := fmt.Sscan(rest, &key, &shard, &bits); err != nil {
				t.Fatal(err)
			}
			hash := bloomline.HashString(key, d.params.Seed)
			if got := bloomline.ShardOf(hash, d.shards); got != shard {
				t.Errorf("%s is in shard %d, want %d", key, got, shard)
			}
			offsets := bitOffsets(nil, hash, d.params)
			if got := strings.ReplaceAll(strings.Trim(fmt.Sprint(offsets), "[]"), " ", ","); got != bits {
				t.Errorf("%s sets %s, want %s", key, got, bits)
			}
			for _, bit := range offsets {
				setBit(shards[shard], bit)
			}
		case "shard": // its number, key and bytes
			var shard int
			var key, bytes string
			if _, err := fmt.Sscan(rest, &shard, &key, &bytes); err != nil {
				t.Fatal(err)
			}
			if got := shardKey(name, d.generation, shard); got != key {
				t.Errorf("shard %d is at %q, want %q", shard, got, key)
			}
			if got := hex.EncodeToString(shards[shard]); got != bytes {
				t.Errorf("shard %d has\n%s, want\n%s", shard, got, bytes)
			}
		default:
			t.Fatalf("%q", lines.Text())
		}
	}
	if seen["name"] < 2 || seen["shard"] < 5 || seen["add"] < 10 {
		t.Errorf("the file is short: %v", seen)
	}
}

func TestNames(t *testing.T) {
	for _, name := range []string{"seen", "a:b c", "{x}", "day{seen}", "{seen}day", "ü"} {
		if err := checkName(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
		a, b := shardKey(name, "ff", 0), shardKey(name, "ff", 1)
		if a == b || tagOf(a) == tagOf(b) || a == name {
			t.Errorf("%q: shards %q and %q", name, a, b)
		}
	}
	for _, name := range []string{"", "{}", "a{", "a}", "}{", "}a{", "{a}{b}", "a{}b", "{{a}}", "{a}}"} {
		if err := checkName(name); !errors.Is(err, ErrName) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if a, b := shardKey("one{t}", "1", 3), shardKey("two{t}", "2", 3); tagOf(a) != tagOf(b) {
		t.Errorf("%q and %q are in different slots", a, b)
	}
}

func TestDescriptionRejects(t *testing.T) {
	const good = "v=1 store=lines generation=aa shards=3 lines=10 k=6 seed=18446744073709551615 keys=5 rate=0.01"
	if d, err := parseDescription(good + " later=1"); err != nil || d.text() != good {
		t.Fatalf("%v, %q", err, d.text())
	}
	const bf = "v=1 store=bf generation=aa shards=3 lines=0 k=0 seed=1 keys=5 rate=0.01"
	for text, capacity := range map[string]uint64{bf: 0, bf + " capacity=12": 12, bf + " capacity=-1": 0} {
		if d, err := parseDescription(text); err != nil || d.capacity != capacity {
			t.Errorf("%q: capacity %d, %v", text, d.capacity, err)
		}
	}
	for _, change := range [][2]string{
		{"v=1", "v=2"}, {"v=1", ""}, {"store=lines", "store=x"}, {"generation=aa", ""}, {"generation=aa", "generation=a{"},
		{"shards=3", "shards=0"}, {"shards=3", "shards=65537"}, {"shards=3", "shards=-1"}, {"lines=10", "lines=0"},
		{"lines=10", "lines=4194304"}, {"k=6", "k=0"}, {"k=6", "k=17"}, {"k=6", ""}, {"seed=18446744073709551615", "seed=18446744073709551616"},
	} {
		text := strings.Replace(good, change[0], change[1], 1)
		if _, err := parseDescription(text); !errors.Is(err, ErrMetadata) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// A shard is never larger than allowed, whatever the number of keys, and all together hold them.
func TestPlan(t *testing.T) {
	for _, keys := range []int{1, 1000, 216_000_000, 217_000_000, 1_000_000_000, 1_000_000_000_000} {
		for _, rate := range []float64{0.01, 0.001} {
			d, perShard, err := plan(t.Context(), nil, keys, rate, options{store: StoreLines})
			if err != nil {
				t.Fatal(err)
			}
			if d.shardBytes() > MaxShardBytes || perShard*uint64(d.shards) < uint64(keys) {
				t.Errorf("%d keys: %d shards of %d bytes for %d keys", keys, d.shards, d.shardBytes(), perShard)
			}
			whole, _ := bloomline.ParamsForRate(keys, rate)
			if float64(d.shards)*float64(d.params.LineCount) > 1.01*float64(whole.LineCount)+1 {
				t.Errorf("%d keys: %d shards of %d lines, for %d", keys, d.shards, d.params.LineCount, whole.LineCount)
			}
		}
	}
	for _, o := range []options{{shards: -1}, {shards: maxShards + 1}, {shards: 3}} {
		o.store = StoreLines
		if _, _, err := plan(t.Context(), nil, 1_000_000_000, 0.01, o); !errors.Is(err, ErrShards) {
			t.Errorf("%d shards: %v", o.shards, err)
		}
	}
	for _, rate := range []float64{0, 1, 2, math.NaN()} {
		if _, _, err := plan(t.Context(), nil, 1, rate, options{store: StoreLines}); !errors.Is(err, bloomline.ErrRate) {
			t.Errorf("rate %v: %v", rate, err)
		}
	}
}
