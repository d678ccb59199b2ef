package bloomline

// The filter that grows: plain filters, each for twice the keys of the one before.

import (
	"math"
	"slices"

	"github.com/bloomline/bloomline/go/internal/format"
)

const (
	maxStages = 64
	// So that a rate is left for the last of all stages.
	leastRate = 1e-15
	// The first stage is for so many keys at least: fewer do not fill a line.
	leastKeys = 32
	// Stage i has the rate stageShare * stageTighter^i of the one asked for: 1 in sum.
	stageShare   = 0.15
	stageTighter = 0.85

	// A stage has at most so many times the lines of the one before, or 64 KiB. Twice the keys at
	// stageTighter times the rate take less.
	stageGrowth = 4
	smallStage  = 1024

	// The record of a stage has key count, line count and k where a footer has them.
	recordBytes = 64
	atCapacity  = 16
	atZero      = 28
)

// ScalableFilter is a Bloom filter for a number of keys that nobody knows beforehand. It starts
// small and grows with its keys, and its false-positive rate stays below the target,
// whatever the number becomes.
//
// It is a series of plain filters, its stages. The first is for the number of keys that is given;
// when the newest has as many keys as it is for, one for twice as many is added. A key goes
// into the newest, unless one of them has it already: so keys that are added again do not
// make it grow. Each stage has a lower rate than the one before, so that the sum of all is the
// target. At a thousand times the first number there are 10 stages, which take 1.9
// times the memory of a plain filter for so many keys at 1 %. Where the number can be guessed,
// take a [Filter].
//
// [NewGrowingUnbounded] makes a filter that keeps its rate in less memory once it has grown, and can
// remove keys. Take a ScalableFilter for keys that stay if adding must be fast: it takes several times
// as long in a [GrowingFilter].
//
// It has no Params, but those of its [ScalableFilter.Stages]. Two cannot be united, since their stages
// differ: add the keys of one to the other.
//
// Any number of goroutines may read it at once; adding requires exclusive access.
//
// The zero ScalableFilter is a place to unmarshal into. It returns true for every key, and
// nothing can be added to it.
//
// A copy of the struct would share its memory, and go vet reports one: use
// [ScalableFilter.Clone]. A nil ScalableFilter answers as the zero one does.
type ScalableFilter struct {
	_ noCopy
	scalableData
}

type scalableData struct {
	stages []stage
	rate   float64
	seed   uint64
}

type stage struct {
	filter   *Filter
	capacity uint64 // how many keys it is for
}

// memory is what all stages take.
func (f *scalableData) memory() int {
	sum := 0
	for i := range f.stages {
		sum += f.stages[i].filter.MemoryUsage()
	}
	return sum
}

// NewScalable returns an empty filter whose first stage is for firstKeys keys, or for 32 if that
// is fewer, 0 included. All stages together stay at a false-positive rate below rate.
//
// Errors: [ErrKeys], [ErrLineCount], [ErrOutOfMemory], [ErrRate]; [ErrRateTooSmall] for a rate below 1e-15.
func NewScalable(firstKeys int, rate float64, options ...Option) (*ScalableFilter, error) {
	if firstKeys < 0 {
		return nil, ErrKeys
	}
	if !isScalableRate(rate) {
		return nil, noRate(rate)
	}
	var params Params
	for _, option := range options {
		if err := option(&params); err != nil {
			return nil, err
		}
	}
	f := &ScalableFilter{scalableData: scalableData{rate: rate, seed: params.Seed}}
	if err := f.addStage(uint64(max(firstKeys, leastKeys))); err != nil {
		return nil, err
	}
	return f, nil
}

// layoutScalable is the lines of all stages, and behind them a record for each.
var layoutScalable = layout{3, footer.scalableLen}

func (f footer) scalableLen() (uint64, error) {
	stages := uint64(f.K)
	switch {
	case !isScalableRate(math.Float64frombits(f.Reserved)):
		return 0, ErrRate
	case stages < 1 || stages > maxStages:
		return 0, ErrK
	case f.LineCount < 1 || f.LineCount > maxLines-stages:
		return 0, ErrLineCount
	}
	return (f.LineCount + stages) * lineBytes, nil
}

func isScalableRate(rate float64) bool {
	return rate >= leastRate && rate < 1
}

func (f *ScalableFilter) addStage(capacity uint64) error {
	if len(f.stages) == maxStages || capacity > math.MaxInt {
		return ErrLineCount
	}
	params, err := ParamsForRate(int(capacity), f.stageRate(len(f.stages)))
	if err != nil {
		return err
	}
	params.Seed = f.seed
	filter, err := NewWithParams(params)
	if err != nil {
		return err
	}
	f.stages = append(f.stages, stage{filter, capacity})
	return nil
}

// stageRate is the false-positive rate of a stage by its number.
func (f *scalableData) stageRate(number int) float64 {
	rate := f.rate * stageShare
	for range number {
		rate *= stageTighter
	}
	return rate
}

// newest is the stage that keys are added to.
func (f *ScalableFilter) newest() *stage {
	return &f.stages[len(f.stages)-1]
}

// ---- adding ----

// AddHashIfAbsent is [ScalableFilter.AddIfAbsent] for a hash.
func (f *ScalableFilter) AddHashIfAbsent(hash uint64) (isNew bool) {
	f.mustHaveStages()
	if f.ContainsHash(hash) {
		return false
	}
	newest := f.newest()
	if newest.filter.KeyCount() >= newest.capacity && f.grow() {
		newest = f.newest()
	}
	newest.filter.AddHash(hash)
	return true
}

func (f *ScalableFilter) mustHaveStages() {
	if f == nil || len(f.stages) == 0 {
		panic("bloomline: insert into a zero ScalableFilter: create it with NewScalable")
	}
}

// grow adds a stage for twice as many keys, unless memory cannot address it. What a file claims to
// be for does not decide how much memory is taken: the lines it has do.
func (f *ScalableFilter) grow() bool {
	newest, rate := f.newest(), f.stageRate(len(f.stages))
	bits, _, ok := bitsForRate(rate)
	if !ok {
		return false
	}
	lines := max(stageGrowth*uint64(len(newest.filter.view.all)), smallStage)
	most := max(uint64(math.Min(float64(lines)*lineBits/bits, 1<<63)), 1)
	return f.addStage(min(saturatingAdd(newest.capacity, newest.capacity), most)) == nil
}

// addAbsent adds keys, and sets the bits of those that were new. out is zero, or nil. Present keys are
// found in a batch; that brings the lines of the others near, too. These are looked up once more: they
// may have come in since, with a hash before them.
func (f *ScalableFilter) addAbsent(hashes []uint64, out []uint64) {
	for at := 0; at < len(hashes); at += hashedAhead {
		f.mustHaveStages()
		part := hashes[at:min(at+hashedAhead, len(hashes))]
		var present [hashedAhead / 64]uint64
		f.answer(part, present[:])
		for i, hash := range part {
			if present[i/64]>>(i%64)&1 == 0 && f.AddHashIfAbsent(hash) && out != nil {
				out[(at+i)/64] |= 1 << (i % 64)
			}
		}
	}
}

// ---- asking ----

// ContainsHash reports whether the key of a hash, made by [ScalableFilter.Hash], may be present.
func (f *ScalableFilter) ContainsHash(hash uint64) bool {
	if f == nil {
		return true
	}
	// From the newest on, which has half of the keys.
	for i := len(f.stages) - 1; i >= 0; i-- {
		if f.stages[i].filter.ContainsHash(hash) {
			return true
		}
	}
	return len(f.stages) == 0
}

func (f *ScalableFilter) prefetch(hash uint64) {
	for i := range f.stages {
		f.stages[i].filter.view.lines.prefetch(hash)
	}
}

// answer answers hashes, a bit each. out is zero.
func (f *ScalableFilter) answer(hashes []uint64, out []uint64) {
	for at := 0; at < len(hashes); at += hashedAhead {
		part := hashes[at:min(at+hashedAhead, len(hashes))]
		for i := range f.stages {
			var answers [hashedAhead / 64]uint64
			f.stages[i].filter.view.answer(part, answers[:(len(part)+63)/64])
			for word := range (len(part) + 63) / 64 {
				out[at/64+word] |= answers[word]
			}
		}
	}
	if len(f.stages) == 0 {
		for i := range hashes {
			out[i/64] |= 1 << (i % 64)
		}
	}
}

func (f *ScalableFilter) hashSeed() uint64 {
	return orZero(f).seed
}

// ---- what it is ----

// Stages returns the stages, the oldest first, to read: each is a plain filter with a shape and
// a key count of its own. They must not be used while keys are added.
func (f *ScalableFilter) Stages() []View {
	f = orZero(f)
	views := make([]View, len(f.stages))
	for i := range f.stages {
		views[i] = f.stages[i].filter.view
	}
	return views
}

// KeyCount returns how many keys are present: those that were new when they were added.
func (f *ScalableFilter) KeyCount() uint64 {
	count := uint64(0)
	f = orZero(f)
	for i := range f.stages {
		count = saturatingAdd(count, f.stages[i].filter.KeyCount())
	}
	return count
}

// Rate returns the target false-positive rate, which [NewScalable] was given. That of the zero
// ScalableFilter is 0.
func (f *ScalableFilter) Rate() float64 {
	return orZero(f).rate
}

// Overfull reports whether the filter ought to have grown and could not, since the system refused the
// memory for the next stage: no key is lost, but the rate may exceed the target. It tries again with each
// key that is added.
func (f *ScalableFilter) Overfull() bool {
	return f != nil && len(f.stages) > 0 && f.newest().filter.KeyCount() > f.newest().capacity
}

// PlainParams returns the shape of the plain filter for the keys that are present, at the target rate. Where
// all keys can be added once more, such a filter takes less memory and is faster. Make it by [NewWithParams]
// and add all keys. If its KeyCount is less than that of f, keys are missing.
//
// Errors: [ErrLineCount]; [ErrRate] for the zero ScalableFilter.
func (f *ScalableFilter) PlainParams() (Params, error) {
	f = orZero(f)
	if f.KeyCount() > math.MaxInt {
		return Params{}, ErrLineCount
	}
	params, err := ParamsForRate(int(f.KeyCount()), f.rate)
	params.Seed = f.seed
	return params, err
}

// usages is those of the stages.
func (f *ScalableFilter) usages(rated bool) (parts []usage) {
	for i := range f.stages {
		parts = append(parts, f.stages[i].filter.view.usage(rated))
	}
	return parts
}

// EstimatedKeys is [Filter.EstimatedKeys], of all stages.
func (f *ScalableFilter) EstimatedKeys() float64 {
	keys := 0.0
	for i := range orZero(f).stages {
		keys += f.stages[i].filter.EstimatedKeys()
	}
	return keys
}

// ExpectedRate returns the false-positive rate to expect of all stages together, 0 to 1, for the
// number of keys now present. It is at most [ScalableFilter.Rate], unless the filter is
// [ScalableFilter.Overfull]. That of the zero ScalableFilter is 1.
func (f *ScalableFilter) ExpectedRate() float64 {
	var rates []float64
	for i := range orZero(f).stages {
		filter := f.stages[i].filter
		rates = append(rates, filter.Params().Rate(int(min(filter.KeyCount(), math.MaxInt))))
	}
	return together(rates)
}

// Clear removes all keys, and all stages but the first.
func (f *ScalableFilter) Clear() {
	if f != nil && len(f.stages) > 0 {
		clear(f.stages[1:])
		f.stages = f.stages[:1]
		f.stages[0].filter.Clear()
	}
}

// ---- bytes and files ----

func (f scalableData) encoded() encoded {
	shape := footer{
		Seed:     f.seed,
		K:        uint32(len(f.stages)),
		Layout:   layoutScalable.number,
		Reserved: math.Float64bits(f.rate),
	}
	var body [][]byte
	records := make([]byte, 0, len(f.stages)*recordBytes)
	for i := range f.stages {
		filter, record := f.stages[i].filter, [recordBytes]byte{}
		count := uint64(len(filter.view.all))
		le.PutUint64(record[format.AtKeyCount:], filter.KeyCount())
		le.PutUint64(record[format.AtLineCount:], count)
		le.PutUint64(record[atCapacity:], f.stages[i].capacity)
		le.PutUint32(record[format.AtK:], uint32(filter.view.k))
		records = append(records, record[:]...)
		body = append(body, bytesOf(filter.view.all))
		shape.LineCount += count
		shape.KeyCount = saturatingAdd(shape.KeyCount, filter.KeyCount())
	}
	return encode(shape, append(body, records)...)
}

func (f *ScalableFilter) decode(body []byte, shape footer, keep bool) error {
	if shape.LinesChecksum != checksum(body) {
		return ErrChecksum
	}
	made := scalableData{rate: math.Float64frombits(shape.Reserved), seed: shape.Seed}
	left, records := body[:shape.LineCount*lineBytes], body[shape.LineCount*lineBytes:]
	for ; len(records) > 0; records = records[recordBytes:] {
		lines, capacity, err := readRecord(records[:recordBytes], &left, shape.Seed)
		if err == nil && len(records) == recordBytes && len(left) > 0 {
			err = ErrLineCount // no stage has them
		}
		if err != nil {
			return err
		}
		// Clear leaves the first stage alone, which must not hold the memory of all.
		filter, err := lines.newFilter(keep && (len(made.stages) > 0 || shape.K == 1))
		if err != nil {
			return err
		}
		made.stages = append(made.stages, stage{filter, capacity})
	}
	f.scalableData = made
	return nil
}

// readRecord is what the record of a stage says, whose lines are the first of those left.
func readRecord(record []byte, left *[]byte, seed uint64) (p parts, capacity uint64, err error) {
	for _, zero := range record[atZero:] {
		if zero != 0 {
			return p, 0, ErrReserved
		}
	}
	p.footer = footer{
		KeyCount:  le.Uint64(record[format.AtKeyCount:]),
		LineCount: le.Uint64(record[format.AtLineCount:]),
		Seed:      seed,
		K:         le.Uint32(record[format.AtK:]),
		Layout:    layoutLines.number,
	}
	if p.K > maxK {
		return p, 0, ErrK // also where an int has 32 bits
	}
	if err := p.params().checkRead(); err != nil {
		return p, 0, err
	}
	size, capacity := p.LineCount*lineBytes, le.Uint64(record[atCapacity:])
	if size > uint64(len(*left)) || capacity == 0 {
		return p, 0, ErrLineCount
	}
	p.lines, *left = (*left)[:size], (*left)[size:]
	return p, capacity, nil
}

func (f scalableData) cloned() scalableData {
	f.stages = slices.Clone(f.stages)
	for i := range f.stages {
		f.stages[i].filter = f.stages[i].filter.Clone()
	}
	return f
}
