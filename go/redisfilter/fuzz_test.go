package redisfilter

// What comes from a server is not to be trusted: descriptions, and footers.

import (
	"testing"

	bloomline "github.com/bloomline/bloomline/go"
)

func FuzzDescription(f *testing.F) {
	f.Add("v=1 store=lines generation=aa shards=3 lines=10 k=6 seed=7 keys=5 rate=0.01")
	f.Add("v=1 store=bf generation=aa shards=3 seed=7")
	f.Add("v=1 v=2 = shards=")
	f.Fuzz(func(t *testing.T, text string) {
		d, err := parseDescription(text)
		if err != nil {
			return
		}
		if d.shards < 1 || d.shards > maxShards || d.store == StoreLines && d.shardBytes() > MaxShardBytes {
			t.Errorf("%q is taken for %+v", text, d)
		}
		again, err := parseDescription(d.text())
		if err != nil || again.text() != d.text() {
			t.Errorf("%q is written as %q: %v", text, d.text(), err)
		}
	})
}

func FuzzFooter(f *testing.F) {
	f.Add(footer{params: bloomline.Params{LineCount: 3, K: 6, Seed: 1}}.bytes())
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, at []byte) {
		end, err := readFooter(at)
		if err == nil && string(end.bytes()) != string(at) {
			t.Errorf("%x is written as %x", at, end.bytes())
		}
	})
}
