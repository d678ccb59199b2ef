package bloomline

// A sliding-window filter: a ring of generations, each of them a plain filter's lines.

import (
	"math"
	"math/big"
	"math/bits"
	"slices"
)

const (
	// Lines that are cleared at once, before the first key of a generation goes into one of
	// them.
	chunkLines = 64
)

// Window is a sliding-window Bloom filter: its keys expire. It reports whether a key was added in
// one of the last so many generations. A generation is a slice of time, a day for instance, or
// a number of keys. Keys go into the newest; [Window.Rotate] begins a new one and drops the
// oldest, in a time that does not depend on their size.
//
// With G generations, a key is present for the rest of the one that it was added in and for the
// G - 1 that follow; it expires when the one after those begins. If it is added again
// meanwhile, that counts. So "seen in the last 7 days" takes 8 daily generations: the current
// day and 7 whole ones before it. A key is then present for at least 7 days and at most 8, and
// never a false negative meanwhile.
//
// The caller passes the time to [Window.AdvanceTo]. The same calls give the same answers and the same bytes,
// whenever they are made.
//
// It has no EstimatedKeys: [Window.KeyCount] counts the keys of a generation. Windows are not united,
// since they may have begun their generations at different times.
//
// Any number of goroutines may read it at once; adding and rotating need it alone.
//
// The zero Window is a place to unmarshal into. It returns true for every key, and nothing can
// be added to it.
//
// A copy of the struct would share its memory, and go vet reports one: use [Window.Clone]. A nil
// Window answers as the zero one does.
type Window struct {
	_ noCopy
	windowData
}

type windowData struct {
	lines []line // of one generation after the other
	// For each generation and each chunkLines of its lines, the slice that these were last
	// cleared for. If it is not the generation's, they are an older one's, and count as empty.
	cleared     []uint64
	params      Params
	generations []generation // by place: that of slice t is t mod their number
	slice       uint64
	limit       uint64 // keys after which the newest is full; 0 if it never is
}

type generation struct {
	slice    uint64
	keyCount uint64
}

// NewWindow returns an empty window of at least one generation, in slice 0. While each has at
// most keysPerGeneration keys, the false-positive rate over all of them is at most rate.
//
// Errors: [ErrGenerations], [ErrKeys], [ErrRate], [ErrRateTooSmall], [ErrLineCount], [ErrOutOfMemory].
func NewWindow(generations, keysPerGeneration int, rate float64, options ...Option) (*Window, error) {
	if generations < 1 {
		return nil, ErrGenerations
	}
	each := rate
	if rate < 1 {
		// One of all is wrong at the rate asked for.
		each = -math.Expm1(math.Log1p(-rate) / float64(generations))
	}
	params, err := ParamsForRate(keysPerGeneration, each)
	if err == ErrRate {
		err = noRate(rate) // each may be 0
	}
	if params, err = withOptions(params, err, options); err != nil {
		return nil, err
	}
	return NewWindowWithParams(generations, params)
}

// NewWindowWithParams returns an empty window of generations of a given shape.
//
// Errors: [ErrGenerations], [ErrNoLines], [ErrK], [ErrLineCount], [ErrOutOfMemory]; [ErrClassic] for a classic shape.
func NewWindowWithParams(generations int, params Params) (*Window, error) {
	if generations < 1 || uint64(generations) > math.MaxUint32 {
		return nil, ErrGenerations
	}
	if err := params.checkInOneLine(); err != nil {
		return nil, err
	}
	if _, ok := windowLen(uint64(generations), params.LineCount); !ok {
		return nil, ErrLineCount
	}
	all, err := newLines(params.LineCount * uint64(generations))
	if err != nil {
		return nil, err
	}
	return windowWith(generations, params, all)
}

// windowWith is a window with these lines.
func windowWith(generations int, params Params, all []line) (*Window, error) {
	cleared, err := newSlice[uint64](generations * chunksOf(params))
	if err != nil {
		return nil, err
	}
	each, err := newSlice[generation](generations)
	if err != nil {
		return nil, err
	}
	return &Window{windowData: windowData{lines: all, cleared: cleared, params: params, generations: each}}, nil
}

// chunksOf is in how many chunks the lines of a generation are cleared.
func chunksOf(params Params) int {
	return int((params.LineCount + chunkLines - 1) / chunkLines)
}

// windowLen is the length of an encoded window; false if it cannot be addressed.
func windowLen(generations, lineCount uint64) (int, bool) {
	n := new(big.Int).SetUint64(lineCount)
	n.Mul(n, big.NewInt(lineBytes)).Add(n, big.NewInt(8))
	n.Mul(n, new(big.Int).SetUint64(generations)).Add(n, big.NewInt(16+footerBytes))
	if !n.IsInt64() || n.Int64() > math.MaxInt {
		return 0, false
	}
	return int(n.Int64()), true
}

// layoutWindow is the lines of all generations, and behind them their state.
var layoutWindow = layout{4, footer.windowLen}

func (f footer) windowLen() (uint64, error) {
	if f.Reserved == 0 || f.Reserved > math.MaxUint32 {
		return 0, ErrGenerations
	}
	if err := f.params().checkRead(); err != nil {
		return 0, err
	}
	size, ok := windowLen(f.Reserved, f.LineCount)
	if !ok {
		return 0, ErrLineCount
	}
	return uint64(size - footerBytes), nil
}

// ---- turning the ring ----

// Rotate begins a new generation and drops the oldest: the slice after the current one begins.
func (w *Window) Rotate() {
	if w != nil && w.slice < math.MaxUint64 {
		w.AdvanceTo(w.slice + 1)
	}
}

// AdvanceTo tells the number of the current slice of time, such as time.Now().Unix() / 86400
// for days. For each slice that has begun since the last call a new generation begins and the
// oldest is dropped: all keys are, if these are as many slices as there are generations. So call it
// before the first key is added, too: a new window is in slice 0. If the slice is the current one,
// or an earlier one, nothing happens.
func (w *Window) AdvanceTo(slice uint64) {
	if w == nil {
		return
	}
	count := uint64(len(w.generations))
	if slice <= w.slice || count == 0 {
		return
	}
	// Of more new generations than there is room for, only the last matter.
	if slice-w.slice > count {
		w.slice = slice - count
	}
	for w.slice < slice {
		w.slice++
		w.generations[w.newest()] = generation{slice: w.slice}
	}
}

// RotateAfter makes generations of a number of keys. From now on the window rotates by itself when the newest
// generation has so many keys, before the next one goes in, also in the midst of a batch. With 0, as at the
// beginning, it rotates only when it is told to. A key that the newest generation has already does not count.
func (w *Window) RotateAfter(keys uint64) {
	if w != nil {
		w.limit = keys
	}
}

// ---- adding ----

// AddHashIfAbsent is [Window.AddIfAbsent] for a hash.
func (w *Window) AddHashIfAbsent(hash uint64) (isNew bool) {
	w.room()
	newest := w.newest()
	isNew = !w.ContainsHash(hash)
	w.put(newest, hash)
	return isNew
}

// addAbsent adds hashes, and sets the bits of those that were new. out is zero, or nil.
func (w *Window) addAbsent(hashes []uint64, out []uint64) {
	for done := 0; done < len(hashes); {
		room := min(w.room(), hashedAhead)
		part := hashes[done:min(done+int(room), len(hashes))]
		newest := w.newest()
		// The older generations stay as they are meanwhile.
		var known [hashedAhead / 64]uint64
		for place := range w.generations {
			if place != newest {
				w.probe(place, part, known[:])
			}
		}
		for i, hash := range part {
			if in := w.put(newest, hash); !in && known[i/64]>>(i%64)&1 == 0 && out != nil {
				out[(done+i)/64] |= 1 << ((done + i) % 64)
			}
		}
		done += len(part)
	}
}

// room turns the ring if its newest generation is full, and returns how many keys that has room
// for.
func (w *Window) room() uint64 {
	if w == nil || len(w.generations) == 0 {
		panic("bloomline: insert into a zero Window: create it with NewWindow")
	}
	if w.limit == 0 {
		return math.MaxUint64
	}
	if w.generations[w.newest()].keyCount >= w.limit {
		w.Rotate()
	}
	// In the last of all slices it does not turn any more.
	return max(w.limit-min(w.generations[w.newest()].keyCount, w.limit), 1)
}

// put adds a key to the newest generation, and tells whether that had it already.
func (w *Window) put(newest int, hash uint64) bool {
	stamp, l := w.stamp(newest, hash), w.linesOf(newest)
	if *stamp != w.slice {
		first := w.lineOf(hash) / chunkLines * chunkLines
		clear(l.all[first:min(first+chunkLines, uint64(len(l.all)))])
		*stamp = w.slice
	}
	in := l.contains(hash)
	if !in {
		l.insert(hash)
		count := &w.generations[newest].keyCount
		*count = saturatingAdd(*count, 1)
	}
	return in
}

// ---- asking ----

// ContainsHash reports whether the key of a hash, made by [Window.Hash], may be present.
func (w *Window) ContainsHash(hash uint64) bool {
	if w == nil {
		return true
	}
	for place := range w.generations {
		l := w.linesOf(place)
		if l.contains(hash) && w.isCurrent(place, hash) {
			return true
		}
	}
	return len(w.generations) == 0
}

func (w *Window) prefetch(hash uint64) {
	for place := range w.generations {
		l := w.linesOf(place)
		l.prefetch(hash)
	}
}

// answer answers hashes, a bit each. out is zero.
func (w *Window) answer(hashes []uint64, out []uint64) {
	for at := 0; at < len(hashes); at += hashedAhead {
		for place := range w.generations {
			w.probe(place, hashes[at:min(at+hashedAhead, len(hashes))], out[at/64:])
		}
	}
	if len(w.generations) == 0 {
		for i := range hashes {
			out[i/64] |= 1 << (i % 64)
		}
	}
}

// probe sets the bits of those of at most hashedAhead hashes that may be in a generation.
func (w *Window) probe(place int, hashes []uint64, out []uint64) {
	var answers [hashedAhead / 64]uint64
	words := (len(hashes) + 63) / 64
	view := View{lines: w.linesOf(place), seed: w.params.Seed}
	view.answer(hashes, answers[:words])
	for word := range words {
		for maybe := answers[word] &^ out[word]; maybe != 0; maybe &= maybe - 1 {
			bit := bits.TrailingZeros64(maybe)
			if w.isCurrent(place, hashes[64*word+bit]) {
				out[word] |= 1 << bit
			}
		}
	}
}

// ---- what it is ----

// Generations returns how many generations there are, the newest included.
func (w *Window) Generations() int {
	return len(orZero(w).generations)
}

// TimeSlice returns the number of the current time slice: how often the window was rotated, or the
// latest that [Window.AdvanceTo] was given.
func (w *Window) TimeSlice() uint64 {
	return orZero(w).slice
}

// KeyCount returns how many different keys are in the generation of age rotations ago, 0 being
// the newest; 0 for an age that no generation has. A few that passed for others, at the rate of
// false positives, are not counted.
func (w *Window) KeyCount(age int) uint64 {
	count := w.Generations()
	if age < 0 || age >= count {
		return 0
	}
	return w.generations[(w.newest()-age+count)%count].keyCount
}

// Clear removes all keys. The slice stays what it is.
func (w *Window) Clear() {
	if w == nil {
		return
	}
	clear(w.lines)
	for place := range w.generations {
		w.generations[place].keyCount = 0
	}
}

// usages is those of the generations. Lines that one has not yet cleared count as empty.
func (w *Window) usages(rated bool) (parts []usage) {
	for place := range w.generations {
		all := w.linesOf(place)
		u := all.unused(rated)
		for first := 0; first < len(all.all); first += chunkLines {
			part := all.all[first:min(first+chunkLines, len(all.all))]
			if w.cleared[place*chunksOf(w.params)+first/chunkLines] == w.generations[place].slice {
				u.add(part)
			} else {
				u.lines += len(part)
			}
		}
		parts = append(parts, u)
	}
	return parts
}

// ---- where it all is ----

// newest is the place of the newest generation.
func (w *Window) newest() int {
	return int(w.slice % uint64(len(w.generations)))
}

func (w *Window) linesOf(place int) lines {
	count := int(w.params.LineCount)
	return linesWith(w.lines[place*count:(place+1)*count], w.params.K, false)
}

func (w *Window) lineOf(hash uint64) uint64 {
	index, _ := bits.Mul64(hash, w.params.LineCount)
	return index
}

// stamp is the slice that the chunk of a hash's line was last cleared for.
func (w *Window) stamp(place int, hash uint64) *uint64 {
	return &w.cleared[place*chunksOf(w.params)+int(w.lineOf(hash)/chunkLines)]
}

// isCurrent reports whether what the line of a hash has was put there by the generation of this
// place.
func (w *Window) isCurrent(place int, hash uint64) bool {
	return *w.stamp(place, hash) == w.generations[place].slice
}

// ---- bytes ----

// zeroChunks stands for the lines of some chunks that count as empty.
var zeroChunks [16 * chunkLines * lineBytes]byte

func (w windowData) encoded() encoded {
	var body [][]byte
	all, done := bytesOf(w.lines), 0
	state := le.AppendUint64(le.AppendUint64(nil, w.slice), w.limit)
	sum, chunks, count := uint64(0), chunksOf(w.params), int(w.params.LineCount)
	for place, generation := range w.generations {
		state = le.AppendUint64(state, generation.keyCount)
		sum = saturatingAdd(sum, generation.keyCount)
		for chunk, slice := range w.cleared[place*chunks : (place+1)*chunks] {
			if slice != generation.slice {
				first := (place*count + chunk*chunkLines) * lineBytes
				size := min(chunkLines, count-chunk*chunkLines) * lineBytes
				if last := len(body) - 1; first == done && last >= 0 && len(body[last])+size <= len(zeroChunks) {
					body[last] = zeroChunks[:len(body[last])+size] // which ends here
				} else {
					body = append(body, all[done:first], zeroChunks[:size])
				}
				done = first + size
			}
		}
	}
	return encode(footer{
		KeyCount:  sum,
		LineCount: w.params.LineCount,
		Seed:      w.params.Seed,
		K:         uint32(w.params.K),
		Layout:    layoutWindow.number,
		Reserved:  uint64(len(w.generations)),
	}, append(body, all[done:], state)...)
}

func (w *Window) decode(body []byte, f footer, keep bool) error {
	if f.LinesChecksum != checksum(body) {
		return ErrChecksum
	}
	lines := f.Reserved * f.LineCount
	all, err := takeLines(body[:lines*lineBytes], keep)
	if err != nil {
		return err
	}
	window, err := windowWith(int(f.Reserved), f.params(), all)
	if err != nil {
		return err
	}
	state := body[lines*lineBytes:]
	window.slice, window.limit = le.Uint64(state), le.Uint64(state[8:])
	count, chunks := uint64(len(window.generations)), chunksOf(window.params)
	for place := range window.generations {
		// The last slice that has this place; 0 if it has had none yet.
		age := (window.slice%count + count - uint64(place)) % count
		slice := window.slice - min(age, window.slice)
		window.generations[place] = generation{slice, le.Uint64(state[16+8*place:])}
		for i := range chunks {
			window.cleared[place*chunks+i] = slice
		}
	}
	w.windowData = window.windowData
	return nil
}

func (w windowData) cloned() windowData {
	w.lines = cloneLines(w.lines)
	orPanic(0, room(8*len(w.cleared)))
	w.cleared = slices.Clone(w.cleared)
	w.generations = slices.Clone(w.generations)
	return w
}
