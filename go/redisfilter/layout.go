package redisfilter

// Which keys a filter has in Redis: one that describes it, and one for each shard.

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	bloomline "github.com/bloomline/bloomline/go"
)

const (
	layoutVersion = "1"

	// The fields of the hash at the filter's name: publish.go says when the last two are there.
	fieldCurrent  = "current"
	fieldBuilding = "building"
	fieldNext     = "next"

	// MaxShardBytes is the most bytes of a shard, its footer included. Redis limits a string to
	// 512 MB, and moving one key between nodes blocks both.
	MaxShardBytes = 256 << 20
	maxShardLines = MaxShardBytes/lineBytes - 1
	maxShards     = 1 << 16
)

// Store is how the shards are stored.
type Store string

const (
	// StoreLines: plain strings that hold the library's lines. It needs no module.
	StoreLines Store = "lines"
	// StoreModule: Bloomline's module, which takes hashes and returns bitmaps.
	StoreModule Store = "bl"
	// StoreBF: any module with the BF commands, which take the keys themselves. It has neither
	// files nor merging.
	StoreBF Store = "bf"
)

// description is what stands at the filter's name: all that a client needs.
type description struct {
	store      Store
	generation string // part of the names of the shards: those of each generation are new
	shards     int
	shape              // of each shard
	keys       uint64  // that the filter was made for, or 0
	rate       float64 // at so many keys, or 0
}

// shape is what tells a shard from another filter.
type shape struct {
	params   bloomline.Params // of StoreBF the seed alone
	capacity uint64           // of StoreBF what BF.INFO reports, or 0: not known
}

// text is the description as it is stored.
func (d description) text() string {
	text := fmt.Sprintf("v=%s store=%s generation=%s shards=%d lines=%d k=%d seed=%d keys=%d rate=%s",
		layoutVersion, d.store, d.generation, d.shards, d.params.LineCount, d.params.K, d.params.Seed,
		d.keys, strconv.FormatFloat(d.rate, 'g', -1, 64))
	if d.store == StoreBF {
		text += fmt.Sprintf(" capacity=%d", d.capacity)
	}
	return text
}

// parseDescription reads a description, and checks all of it. It ignores what it does not know:
// a change that old clients must not ignore gets another version.
func parseDescription(text string) (description, error) {
	fields := make(map[string]string)
	for _, field := range strings.Fields(text) {
		name, value, _ := strings.Cut(field, "=")
		fields[name] = value
	}
	wrong := func(name string) (description, error) {
		return description{}, fmt.Errorf("%w: %s=%q", ErrMetadata, name, fields[name])
	}
	if fields["v"] != layoutVersion {
		return wrong("v")
	}
	d := description{store: Store(fields["store"]), generation: fields["generation"]}
	number := func(name string, bits int) (n uint64, ok bool) {
		n, err := strconv.ParseUint(fields[name], 10, bits)
		return n, err == nil
	}
	var ok bool
	if d.params.Seed, ok = number("seed", 64); !ok {
		return wrong("seed")
	}
	shards, ok := number("shards", 32)
	if !ok || shards < 1 || shards > maxShards {
		return wrong("shards")
	}
	d.shards = int(shards)
	if d.generation == "" || strings.ContainsAny(d.generation, "{}") {
		return wrong("generation")
	}
	switch d.store {
	case StoreLines, StoreModule:
		k, ok := number("k", 8)
		if !ok || k < 1 || k > 16 {
			return wrong("k")
		}
		d.params.K = int(k)
		if d.params.LineCount, ok = number("lines", 56); !ok || d.params.LineCount < 1 ||
			d.store == StoreLines && d.params.LineCount > maxShardLines {
			return wrong("lines")
		}
	case StoreBF:
		d.capacity, _ = number("capacity", 63)
	default:
		return wrong("store")
	}
	d.keys, _ = number("keys", 64)
	d.rate, _ = strconv.ParseFloat(fields["rate"], 64)
	return d, nil
}

// sameShape reports whether filters can be united shard by shard.
func (d description) sameShape(other description) bool {
	return d.store == other.store && d.shards == other.shards && d.params == other.params
}

// shardBytes is the length of a shard's file, and of its string.
func (d description) shardBytes() int64 {
	return int64(d.params.LineCount+1) * lineBytes
}

// footerAt is where the footer is in a shard's string.
func (d description) footerAt() int64 {
	return int64(d.params.LineCount) * lineBytes
}

// checkName returns what is wrong with a name.
func checkName(name string) error {
	opening, closing := strings.IndexByte(name, '{'), strings.IndexByte(name, '}')
	if name == "" || strings.Count(name, "{") > 1 || strings.Count(name, "}") > 1 ||
		(opening < 0) != (closing < 0) || opening >= 0 && closing < opening+2 {
		return ErrName
	}
	return nil
}

// shardKey is the key of a shard: its number follows the name inside the braces by which a
// cluster chooses the slot. If the name has a {tag}, the number follows that instead: filters of
// one tag then have their shards on the same nodes.
func shardKey(name, generation string, shard int) string {
	number := ":" + strconv.Itoa(shard)
	if at := strings.IndexByte(name, '}'); at >= 0 {
		return name[:at] + number + name[at:] + ":" + generation
	}
	return "{" + name + number + "}:" + generation
}

// shardKeys are the keys of all shards.
func shardKeys(name string, d description) []string {
	keys := make([]string, d.shards)
	for i := range keys {
		keys[i] = shardKey(name, d.generation, i)
	}
	return keys
}

// tagOf is the part of a key that chooses its slot.
func tagOf(key string) string {
	if opening := strings.IndexByte(key, '{'); opening >= 0 {
		if length := strings.IndexByte(key[opening+1:], '}'); length > 0 {
			return key[opening+1:][:length]
		}
	}
	return key
}

// newGeneration is a name that no generation has had.
func newGeneration() string {
	var random [8]byte
	_, _ = rand.Read(random[:]) // which never fails
	return hex.EncodeToString(random[:])
}
