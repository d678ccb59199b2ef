package bloomline

// Builds cascades: layer after layer, until one passes no key of the other set.

import (
	"fmt"
	"slices"
)

// BuildCascade returns the smallest cascade of these keys. Repeated keys change no answer.
//
// Errors: [ErrOverlap] if both sets have a key; [ErrLineCount], [ErrOutOfMemory].
func BuildCascade(included, excluded [][]byte, options ...Option) (*Cascade, error) {
	return buildCascade(included, excluded, options)
}

// BuildCascadeStrings is [BuildCascade] for strings.
func BuildCascadeStrings(included, excluded []string, options ...Option) (*Cascade, error) {
	return buildCascade(included, excluded, options)
}

func buildCascade[K bytesOrString](included, excluded []K, options []Option) (*Cascade, error) {
	// A cascade has no more of these than the seed.
	chosen, err := withOptions(Params{}, nil, options)
	if err != nil {
		return nil, err
	}
	in, err := hashesOf(included, chosen.Seed)
	if err != nil {
		return nil, err
	}
	out, err := hashesOf(excluded, chosen.Seed)
	if err != nil {
		return nil, err
	}
	return BuildCascadeHashes(in, out, 0, chosen.Seed, 1)
}

func hashesOf[K bytesOrString](keys []K, seed uint64) ([]uint64, error) {
	hashes, err := newSlice[uint64](len(keys))
	for i := range hashes {
		hashes[i] = Hash(bytesOfKey(keys[i]), seed)
	}
	return hashes, err
}

// BuildCascadeHashes returns the cascade of the keys of these hashes, in any order. The hashes are well
// mixed over all 64 bits; seed is that of the hash of keys. A rate of 0 means the smallest cascade; any
// other, 2^-16 or more, is the rate at which keys of neither set may be reported as included. Up to so many
// goroutines build; 0: as many as [runtime.GOMAXPROCS] says. The bytes are the same on any number of them.
//
// Errors: [ErrOverlap] if a hash is in both; [ErrRate], [ErrRateTooSmall], [ErrLineCount], [ErrOutOfMemory];
// [ErrLayers] if 32 layers do not tell the sets apart, which only hashes chosen for it need.
func BuildCascadeHashes(included, excluded []uint64, rate float64, seed uint64, goroutines int) (*Cascade, error) {
	rows, err := firstRows(uint64(len(included)), uint64(len(excluded))), error(nil)
	if rate != 0 {
		if rows, err = rowsForRate(rate); err != nil {
			return nil, err
		}
	}
	f := new(Cascade)
	f.seed = seed
	// The keys of the next layer, and those of the other set, which all layers so far pass.
	own, others := included, excluded
	for {
		number := len(f.layers)
		if number == maxLayers {
			return nil, ErrLayers
		}
		if err := f.addLayer(own, others, rows, goroutines); err != nil {
			return nil, err
		}
		passed, err := f.layers[number].passing(number, others)
		if err != nil {
			return nil, err
		}
		if len(passed) == 0 {
			return f, nil
		}
		// A hash in both sets passes all layers, so it is found where both are few first.
		if number == 1 {
			if hash, found := common(own, passed); found {
				return nil, fmt.Errorf("%w: 0x%016x", ErrOverlap, hash)
			}
		}
		own, others, rows = passed, own, laterRows
	}
}

// addLayer adds a layer of own, to be tested with others.
func (f *Cascade) addLayer(own, others []uint64, rows, goroutines int) error {
	params, err := StaticParamsForRows(len(own), rows)
	if err != nil {
		return err
	}
	number, mapped := len(f.layers), own
	if number > 0 {
		if mapped, err = newSlice[uint64](len(own)); err != nil {
			return err
		}
		for i, hash := range own {
			mapped[i] = layerHash(hash, number)
		}
	}
	filter, err := BuildStaticWithParams(params, mapped, goroutines)
	if err != nil {
		return err
	}
	f.layers = append(f.layers, cascadeLayer{
		staticLines: filter.view.static,
		lines:       filter.view.encoded[:filter.Bytes():filter.Bytes()],
		keyCount:    uint64(len(own)),
		tested:      uint64(len(others)),
	})
	return nil
}

// passing returns the hashes that a layer passes, in ascending order, each once.
func (l *cascadeLayer) passing(number int, hashes []uint64) (passing []uint64, err error) {
	var mapped [hashedAhead]uint64
	for len(hashes) > 0 {
		part := hashes[:min(hashedAhead, len(hashes))]
		hashes = hashes[len(part):]
		for i, hash := range part {
			mapped[i] = layerHash(hash, number)
		}
		var passed [hashedAhead / 64]uint64
		l.answer(l.lines, mapped[:len(part)], passed[:])
		if need := len(passing) + len(part); need > cap(passing) {
			if passing, err = withRoom(passing, need+len(passing)/4); err != nil {
				return nil, err
			}
		}
		for i, hash := range part {
			if passed[i/64]>>(i%64)&1 == 1 {
				passing = append(passing, hash)
			}
		}
	}
	slices.Sort(passing)
	return slices.Compact(passing), nil
}

// common returns the first hash that is in both, which are in ascending order.
func common(a, b []uint64) (uint64, bool) {
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			a = a[1:]
		case a[0] > b[0]:
			b = b[1:]
		default:
			return a[0], true
		}
	}
	return 0, false
}
