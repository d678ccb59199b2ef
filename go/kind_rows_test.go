package bloomline

// The kinds, a row for each: how one is made, read and asked, for all that the tests hold every kind to.

import (
	"encoding"
	"encoding/gob"
	"io"
	"reflect"
	"strings"
	"testing"
)

// storedKind is what all kinds can do.
type storedKind interface {
	encoding.BinaryMarshaler
	encoding.BinaryUnmarshaler
	encoding.BinaryAppender
	encoding.TextMarshaler
	encoding.TextUnmarshaler
	gob.GobEncoder
	gob.GobDecoder
	io.WriterTo
	io.ReaderFrom
	WriteDelimited(io.Writer) (int64, error)
	ReadDelimited(io.Reader, int64) (int64, error)
}

// anyKind is what filters of all kinds can do, but for a Matrix.
type anyKind interface {
	storedKind
	Prober
}

// kindRow is a kind.
type kindRow struct {
	name    string   // of its type, and which filter of that type it is
	layouts []uint16 // what it is read from
	load    func(path string) (any, error)
	// empty makes one without keys, for so many of them.
	empty func(keys int, options ...Option) (anyKind, error)
	// build makes one that takes no keys later, of its keys and, if that matters, others.
	build func(keys, others []uint64, seed uint64) any
	// spoil makes one that takes no keys answer otherwise.
	spoil func(filter any)
	// lacks are methods that it does not have. Its documentation has the reasons.
	lacks string

	history string // its file in golden/histories
	// made makes one as a history says.
	made func(t *testing.T, args []string) (anyKind, error)
	// other answers the verbs that few kinds have; it returns "" for others.
	other func(t *testing.T, filter anyKind, words []string) string
	// columns answers all that is asked of a Matrix alone; it returns "" for others.
	columns func(t *testing.T, h *history, words []string) string
}

const (
	adds = `Add AddString AddUint64 AddHash AddBatch AddStrings AddHashes
		AddIfAbsent AddStringIfAbsent AddUint64IfAbsent AddHashIfAbsent ` + batchesIfAbsent
	batchesIfAbsent = "AddBatchIfAbsent AddStringsIfAbsent AddHashesIfAbsent "
)

var kindRows = []kindRow{{
	name: "Filter", layouts: []uint16{1, 2, 6}, load: loaded(Load), empty: sized(New, 0.01),
	history: "filter", made: shaped(NewWithParams), other: filterOther,
}, {
	name: "Filter, classic", layouts: []uint16{1, 2, 6}, load: loaded(Load), empty: sized(NewClassic, 0.01),
	history: "classic", made: shaped(newClassicWithParams), other: filterOther,
}, {
	name: "Filter, long", layouts: []uint16{1, 2, 6}, load: loaded(Load), empty: sized(New, 1e-5), // k above 8
}, {
	name: "ConcurrentFilter", layouts: []uint16{1, 2, 6}, load: loaded(LoadConcurrent), empty: sized(NewConcurrent, 0.01),
	lacks:   "KeyCount View Intersect",
	history: "concurrent", made: shaped(NewConcurrentWithParams),
}, {
	name: "CountingFilter", layouts: []uint16{2}, load: loaded(LoadCounting), empty: sized(NewCounting, 0.01),
	lacks:   "Intersect",
	history: "counting", made: shaped(NewCountingWithParams), other: countingOther,
}, {
	name: "CuckooFilter", layouts: []uint16{7}, load: loaded(LoadCuckoo), empty: sized(NewCuckoo, 0.002),
	lacks:   batchesIfAbsent + "EstimatedKeys Union Intersect",
	history: "cuckoo", other: cuckooOther,
	made: shaped(func(p Params) (*CuckooFilter, error) {
		return NewCuckooWithParams(CuckooParams{p.LineCount, p.K, p.Seed})
	}),
}, {
	name: "ScalableFilter", layouts: []uint16{3}, load: loaded(LoadScalable),
	empty:   func(keys int, options ...Option) (anyKind, error) { return NewScalable(keys/10, 0.01, options...) },
	lacks:   "Params Union Intersect",
	history: "scalable", other: scalableOther,
	made: func(t *testing.T, args []string) (anyKind, error) {
		return NewScalable(int(number(t, args[0], 10)), float(args[1]), WithSeed(number(t, args[2], 10)))
	},
}, {
	name: "Window", layouts: []uint16{4}, load: loaded(LoadWindow),
	empty:   func(keys int, options ...Option) (anyKind, error) { return NewWindow(3, keys, 0.01, options...) },
	lacks:   "EstimatedKeys Union Intersect",
	history: "window", other: windowOther,
	made: func(t *testing.T, args []string) (anyKind, error) {
		return NewWindow(int(number(t, args[0], 10)), int(number(t, args[1], 10)), float(args[2]), WithSeed(number(t, args[3], 10)))
	},
}, {
	name: "StaticFilter", layouts: []uint16{8}, load: loaded(LoadStatic),
	build: func(keys, _ []uint64, seed uint64) any {
		return orPanic(BuildStaticHashes(keys, 0.001, WithSeed(seed)))
	},
	spoil:   func(filter any) { bumpAll(filter.(*StaticFilter).view.encoded) },
	lacks:   adds + "Fill Union Intersect Clear",
	history: "static", made: staticMade,
}, {
	name: "Cascade", layouts: []uint16{9}, load: loaded(LoadCascade),
	build: func(keys, others []uint64, seed uint64) any {
		return orPanic(BuildCascadeHashes(keys, others, 0, seed, 1))
	},
	spoil:   func(filter any) { bumpAll(filter.(*Cascade).layers[0].lines) },
	lacks:   adds + `Union Intersect Clear Params KeyCount Fill EstimatedKeys EstimatedRate WorstLineRate`,
	history: "cascade", made: cascadeMade, other: cascadeOther,
}, {
	name: "Matrix", layouts: []uint16{10}, load: loaded(LoadMatrix),
	build: func(_, _ []uint64, seed uint64) any {
		return orPanic(NewMatrix(Params{LineCount: 5, K: 6, Seed: seed}, 100))
	},
	lacks:   `Union Intersect KeyCount Fill EstimatedKeys EstimatedRate WorstLineRate`,
	history: "matrix", columns: matrixColumns,
}, {
	name: "GrowingFilter", layouts: []uint16{11}, load: loaded(LoadGrowing), empty: sized(NewGrowing, 0.01),
	history: "growing", made: growingMade, other: growingOther,
}, {
	name: "GrowingFilter, unbounded", layouts: []uint16{11}, load: loaded(LoadGrowing),
	empty: func(keys int, options ...Option) (anyKind, error) {
		return NewGrowingUnbounded(keys/10, 0.01, options...)
	},
}}

// loaded is a Load function of any kind.
func loaded[F any](load func(string) (F, error)) func(string) (any, error) {
	return func(path string) (any, error) { return load(path) }
}

// sized is a New function of any kind, at this rate.
func sized[F anyKind](make func(int, float64, ...Option) (F, error), rate float64) func(int, ...Option) (anyKind, error) {
	return func(keys int, options ...Option) (anyKind, error) { return make(keys, rate, options...) }
}

// shaped makes a filter of line count, k and seed.
func shaped[F anyKind](make func(Params) (F, error)) func(*testing.T, []string) (anyKind, error) {
	return func(t *testing.T, args []string) (anyKind, error) {
		return make(Params{LineCount: number(t, args[0], 10), K: int(number(t, args[1], 10)), Seed: number(t, args[2], 10)})
	}
}

// ---- filters of all kinds ----

// kindsOf are empty filters of all kinds for 1000 keys, with seed 9.
func kindsOf(t *testing.T) map[string]anyKind {
	t.Helper()
	made := map[string]anyKind{}
	for _, row := range kindRows {
		if row.empty != nil {
			made[row.name] = orPanic(row.empty(1000, WithSeed(9)))
		}
	}
	return made
}

// builtKinds are those that are made of all their keys at once, or answer by columns.
func builtKinds(hashes []uint64) map[string]any {
	made := map[string]any{}
	for _, row := range kindRows {
		if row.build != nil {
			made[row.name] = row.build(hashes[:100], hashes[100:], 0)
		}
	}
	return made
}

// trusted are filters of all kinds, with the key "apple", without "pear" and "quince", and with seeds.
func trusted(t *testing.T) map[string]anyKind {
	t.Helper()
	made := map[string]anyKind{}
	for i, row := range kindRows {
		seed := 1<<63 + uint64(i)
		hashOf := func(key string) uint64 { return HashString(key, seed) }
		if row.empty != nil {
			filter := orPanic(row.empty(100, WithSeed(seed)))
			in := addsOf(filter).(adder)
			for key := range 60 {
				in.AddUint64(uint64(key)) // a ScalableFilter grows
			}
			in.AddString("apple")
			if window, ok := filter.(*Window); ok {
				window.Rotate()
			}
			made[row.name] = filter
		} else if filter, ok := row.build([]uint64{hashOf("apple")}, []uint64{hashOf("pear"), hashOf("quince")}, seed).(anyKind); ok {
			made[row.name] = filter
		}
	}
	return made
}

// loaders are all functions that read a file.
var loaders = func() map[string]func(path string) error {
	all := map[string]func(path string) error{
		"Open":           func(path string) error { return second(Open(path)) },
		"OpenUnverified": func(path string) error { return second(OpenUnverified(path)) },
	}
	for _, row := range kindRows {
		all["Load, "+row.name] = func(path string) error { return second(row.load(path)) }
	}
	return all
}()

// fresh is a zero value of the same kind.
func fresh(filter anyKind) anyKind {
	return reflect.New(reflect.TypeOf(filter).Elem()).Interface().(anyKind)
}

// nilOf is a nil pointer of the same kind.
func nilOf(filter anyKind) anyKind {
	return reflect.Zero(reflect.TypeOf(filter)).Interface().(anyKind)
}

// equal calls filter.Equal(other).
func equal(filter, other any) bool {
	arg := reflect.ValueOf(other)
	return reflect.ValueOf(filter).MethodByName("Equal").Call([]reflect.Value{arg})[0].Bool()
}

func cloneOf(filter any) anyKind {
	return reflect.ValueOf(filter).MethodByName("Clone").Call(nil)[0].Interface().(anyKind)
}

// typeName is the name of a row's type.
func typeName(row string) string {
	name, _, _ := strings.Cut(row, ",")
	return name
}
