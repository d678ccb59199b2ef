package bloomline

// CuckooFilter is a filter that keys can be removed from, and that can become full. It keeps a
// fingerprint of each key, of 8, 12 or 16 bits, by which the rate is chosen; each key costs two
// cache lines.
//
//   - Full: adding a key for which there is no room returns [ErrFull], and changes nothing. Up to
//     95 % of [CuckooParams.Slots] there is room.
//   - A key added twice takes two slots, and is absent when it has been removed twice.
//     There are 8 places for a key and for those it cannot be told from: a ninth add of the
//     same key finds the filter full, or an earlier one, at once.
//   - A full filter fails fast. An add moves up to 2,048 fingerprints to make room. After 16 adds
//     that did so in vain, later ones move 8; each key added since allows 8 more, each key removed
//     2,048. A clone remembers those adds, a filter that is read does not.
//   - Remove only keys that you added. Any other removal can delete the fingerprint of a key
//     that was added; that key is then a false negative. Removing a key that is definitely
//     absent returns [ErrAbsent].
//   - Two filters cannot be united, since one may have no room for the other's keys. KeyCount is
//     exact, so there is no EstimatedKeys. Adding many keys if absent is a loop: each can fail.
//
// Any number of goroutines may read it at once; adding and removing need it alone.
//
// The zero CuckooFilter is a place to unmarshal into. It returns true for every key; nothing can be
// added to it, and nothing removed.
//
// A copy of the struct would share its memory, and go vet reports one: use [CuckooFilter.Clone].
// A nil CuckooFilter answers as the zero one does.
type CuckooFilter struct {
	_ noCopy
	cuckooData
}

type cuckooData struct {
	view   View // of lines that are this filter's own
	budget cuckooBudget
	kicks  uint64 // by all adds; for tests
}

// NewCuckoo returns an empty filter that has room for so many keys, at a false-positive rate of
// at most rate when they are present: see [CuckooParamsForRate] for the rates that it can have.
//
// Errors: those of [CuckooParamsForRate]; [ErrOutOfMemory].
func NewCuckoo(keys int, rate float64, options ...Option) (*CuckooFilter, error) {
	params, err := CuckooParamsForRate(keys, rate)
	var chosen Params // of which a cuckoo filter has the seed
	for _, option := range options {
		if err == nil {
			err = option(&chosen)
		}
	}
	if err != nil {
		return nil, err
	}
	params.Seed = chosen.Seed
	return NewCuckooWithParams(params)
}

// NewCuckooWithParams returns an empty filter of a given shape.
//
// Errors: [ErrNoLines], [ErrFingerprintBits], [ErrLineCount], [ErrOutOfMemory].
func NewCuckooWithParams(params CuckooParams) (*CuckooFilter, error) {
	if err := params.check(); err != nil {
		return nil, err
	}
	all, err := newLines(params.LineCount)
	if err != nil {
		return nil, err
	}
	lines := cuckooLines{all, slotSizeOf(params.FingerprintBits)}
	view := View{cuckoo: lines, seed: params.Seed}
	return &CuckooFilter{cuckooData: cuckooData{view: view}}, nil
}

// ---- adding and removing ----

// AddHash is [CuckooFilter.Add] for the hash of a key: one that [CuckooFilter.Hash] made, or
// any other that is well mixed over all 64 bits.
func (f *CuckooFilter) AddHash(hash uint64) error {
	f.mustHaveLines()
	ok, kicks := f.view.cuckoo.insert(hash, f.budget.kicks(f.view.keyCount))
	f.kicks += uint64(kicks)
	if !ok {
		if kicks != 0 {
			f.budget.waste(kicks, f.view.keyCount)
		}
		return ErrFull
	}
	f.view.keyCount++
	return nil
}

func (f *CuckooFilter) mustHaveLines() {
	if f == nil || len(f.view.cuckoo.all) == 0 {
		panic("bloomline: insert into a zero CuckooFilter: create it with NewCuckoo")
	}
}

// AddHashIfAbsent is [CuckooFilter.AddIfAbsent] for a hash.
func (f *CuckooFilter) AddHashIfAbsent(hash uint64) (bool, error) {
	f.mustHaveLines()
	if f.view.cuckoo.contains(hash) {
		return false, nil
	}
	err := f.AddHash(hash)
	return err == nil, err
}

// AddBatch adds many keys, in order, up to the first for which there is no room, and returns
// how many of them were added.
//
// Errors: [ErrFull] if that is not all.
func (f *CuckooFilter) AddBatch(keys [][]byte) (int, error) {
	return addToCuckoo(f, keys)
}

// AddStrings is [CuckooFilter.AddBatch] for strings.
func (f *CuckooFilter) AddStrings(keys []string) (int, error) {
	return addToCuckoo(f, keys)
}

func addToCuckoo[K bytesOrString](f *CuckooFilter, keys []K) (added int, err error) {
	f = orZero(f)
	var ahead [hashedAhead]uint64
	for added < len(keys) && err == nil {
		var now int
		now, err = f.AddHashes(hashAhead(f.view.seed, keys[added:], &ahead))
		added += now
	}
	return added, err
}

// AddHashes is [CuckooFilter.AddBatch] for hashes.
func (f *CuckooFilter) AddHashes(hashes []uint64) (int, error) {
	f = orZero(f)
	for i, hash := range hashes {
		if i%touched == 0 {
			f.view.cuckoo.touch(hashes[i:min(i+touched, len(hashes))])
		}
		if err := f.AddHash(hash); err != nil {
			return i, err
		}
	}
	return len(hashes), nil
}

// RemoveHash is [CuckooFilter.Remove] for the hash of a key.
func (f *CuckooFilter) RemoveHash(hash uint64) error {
	if f == nil || len(f.view.cuckoo.all) == 0 {
		return ErrNoLines
	}
	if !f.view.cuckoo.remove(hash) {
		return ErrAbsent
	}
	f.view.keyCount--
	return nil
}

// removeHashes sets the bits of hashes that were removed. out is zero.
func (f *CuckooFilter) removeHashes(hashes []uint64, out []uint64) {
	f = orZero(f)
	for i, hash := range hashes {
		if i%touched == 0 {
			f.view.cuckoo.touch(hashes[i:min(i+touched, len(hashes))])
		}
		if f.RemoveHash(hash) == nil {
			out[i/64] |= 1 << (i % 64)
		}
	}
}

// Clear removes all keys.
func (f *CuckooFilter) Clear() {
	if f == nil {
		return
	}
	clear(f.view.cuckoo.all)
	f.view.keyCount, f.budget = 0, cuckooBudget{}
}

// ---- bytes and files ----

// layoutCuckoo is lines of fingerprints.
var layoutCuckoo = layout{7, func(f footer) (uint64, error) { return f.cuckooLen() }}

func (f *footer) cuckooLen() (uint64, error) {
	return f.eachLen(lineBytes, f.cuckooParams().checkRead())
}

func (f cuckooData) encoded() encoded {
	p, _ := f.view.CuckooParams()
	return encode(footer{
		KeyCount:  f.view.keyCount,
		LineCount: p.LineCount,
		Seed:      p.Seed,
		K:         uint32(p.FingerprintBits),
		Layout:    layoutCuckoo.number,
	}, bytesOf(f.view.cuckoo.all))
}

func (f *CuckooFilter) decode(body []byte, footer footer, keep bool) error {
	p, err := footer.parts(body, true)
	if err != nil {
		return err
	}
	all, err := takeLines(p.lines, keep)
	if err != nil {
		return err
	}
	view := View{cuckoo: cuckooLines{all, slotSizeOf(int(p.K))}, seed: p.Seed}
	view.keyCount = view.cuckoo.taken() // what the footer says is a hint only
	f.cuckooData = cuckooData{view: view}
	return nil
}

func (f cuckooData) cloned() cuckooData {
	f.view.cuckoo.all = cloneLines(f.view.cuckoo.all)
	return f
}
