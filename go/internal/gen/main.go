// Command gen writes the methods that all kinds of filters have alike: NAME_gen.go for each row of kinds, from
// methods.tmpl; and the list of types in doc.go. `go generate` in the directory of package bloomline runs it; its test says if that was forgotten.
package main

import (
	_ "embed"
	"fmt"
	"go/format"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
)

// kind is a row: what the methods of one kind have that those of another do not. Texts go into comments.
type kind struct {
	Name, File string
	About      string // its line in the list of types in doc.go
	Data       string // the type that holds the fields; there are no bytes and files of one without
	Noun       string // what its documentation calls it
	Load       string // the function that reads a file
	Seed       string // the seed of hashes: seed() if empty

	Hand    string // methods that are by hand: each has a reason of its own
	Lacks   string // methods that it does not have
	Layouts string // what it can be read from
	Answers bool   // it answers in a bit for each column, and so probes and adds by methods of its own
	Adds    bool   // has Add and AddIfAbsent
	CanFail bool   // Add returns an error
	Removes bool   // has Remove
	Viewed  string // the view that answers; if there is none, the methods answer and prefetch do

	Add, AddIfAbsent string // what these do
	AddsAbsent       bool   // AddHash is AddHashIfAbsent, AddHashes addAbsent
	Contains         string
	Asked            string // what Contains asks, if not ContainsHash
	ContainsHash     string // what it returns; by hand if empty
	Prefetch         string

	SeedIs             string // what seed returns; there is none if empty
	Params, ParamsType string // how Params returns what; by hand if empty
	ParamsOf           string
	Shown, ShownOf     string // the format of String, and of what
	Parts              string // what usages yields, for the measures of a kind without a view
	Cloned             string // more of Clone

	// What the methods of a kind with a view return.
	View, KeyCount, Fill, EstimatedKeys, EstimatedRate, WorstLineRate string

	Memory       string // what MemoryUsage returns, and what of
	MemoryOf     string
	Equal        string
	Now          string // of a filter that others change meanwhile
	Copied       bool   // it is encoded from a copy
	Bytes        string // more of what it is encoded as
	Decoded      string // more of what it is decoded to
	Other        string // what it cannot be decoded from
	ReadFrom     string
	Save         string
	ToBe, Loaded string // what for, and what else there is to say of Load
}

const (
	noMore  = "A key that was added before is never new; a new key passes for present at the false-positive rate."
	another = "a filter of another kind"

	viewSeed   = "orZero(f).view.seed"
	shape      = "return orZero(f).view.shape()"
	keysLinesK = "f.KeyCount(), f.Params().LineCount, f.Params().K"
)

var kinds = []kind{{
	Name: "Filter", File: "filter", Data: "filterData", Load: "Load",
	About:   "a set of keys. It can be united with others, folded, and saved.",
	Layouts: "layoutLines, layoutCounting, layoutClassic",
	// Single keys of no seed call xxh3 directly, and batches of no keys find a nil filter.
	Hand:          "Add AddString AddBatch AddStrings Contains ContainsString ContainsUint64 Prefetch",
	Adds:          true,
	ContainsHash:  "f == nil || f.view.lines.contains(hash)",
	SeedIs:        viewSeed,
	Params:        shape,
	Shown:         "%d keys, %d lines, k %d",
	ShownOf:       keysLinesK,
	Viewed:        "orZero(f).view",
	View:          "the filter to read: cheap to pass on. It sees what is added later, and must not be used while something is.",
	KeyCount:      "were added, repeated ones counted each time, those of filters united with this one included.",
	Fill:          "returns the fraction of all bits that are set, 0 to 1. It reads the whole filter.",
	EstimatedKeys: "returns how many different keys are present, estimated from the fill: within a few per cent until nearly all bits are set. It reads the whole filter.",
	EstimatedRate: "returns the false-positive rate at the present fill, 0 to 1, so that a service can see when to rebuild. It reads the whole filter. That of the zero Filter is 1.",
	WorstLineRate: "returns the false-positive rate of the fullest line, 0 to 1. A line that holds far more keys than its share, because an attacker chose them so, has a rate near 1, and hardly changes [Filter.EstimatedRate]. By chance the fullest of a million lines reaches some ten times the average. It reads the whole filter. That of [NewClassic], where the bits of a key lie anywhere, is EstimatedRate; that of the zero Filter is 1.",
	AddIfAbsent:   "adds a key unless it is present, and returns true if it was new. " + noMore + " KeyCount counts only new keys.",
	Equal:         "are encoded as the same bytes: the same shape, seed, bits and key count. Two zero Filters are equal.",
	Decoded:       "Of a [CountingFilter] it is the plain filter of its keys.",
	Other:         "a filter that is neither plain, classic nor counting",
	ReadFrom: `: it reads from to its end, since what the bytes are stands there. So from is a file, or a message that is closed behind the filter; for any other stream take [Filter.ReadDelimited].
//
// Where from can seek, the end is looked at first. Otherwise at most [DefaultReadLimit] bytes are taken, or as many as from allows if it is an [io.LimitedReader]. Memory grows with what arrives.`,
	Save: `atomically: beside it under another name, flushed to the disk, then renamed. At every moment the file is the old filter or the new one, whole.
//
// The permissions of a file that is replaced are kept, and its owner and group where the system allows it. A symbolic link is replaced, not followed, by a file with the permissions of the one it led to.
//
// Errors: [ErrNotAFile] if there is a directory, a FIFO or a device, or a link to one; those of the system. Each is an [io/fs.PathError] with this path. The old file is then untouched. Only if flushing the directory fails, last of all, is the new file in its place, and may not survive a power failure.`,
	ToBe:   ", to be added to",
	Loaded: "Of a [CountingFilter] it is the plain filter of its keys: see [LoadCounting].",
}, {
	Name: "ConcurrentFilter", File: "concurrent", Data: "concurrentData", Load: "LoadConcurrent",
	About:       "goroutines add and probe at once, without locks.",
	Layouts:     "layoutLines, layoutCounting, layoutClassic",
	Adds:        true,
	AddsAbsent:  true,
	SeedIs:      viewSeed,
	Params:      shape,
	Shown:       "%d lines, k %d",
	ShownOf:     "f.Params().LineCount, f.Params().K",
	Parts:       "the filter as it is now",
	Cloned:      ", as it is now. Others may go on adding, as with [ConcurrentFilter.Snapshot]",
	Add:         "adds a key.",
	AddIfAbsent: "adds a key, and returns true if it was new: if one of its bits was not set before. " + noMore + " Of several goroutines that add the same new key at once, at least one is told that it is new, and more may be.",
	Contains:    "reports whether a key may be present. False means that it was absent when this was called.",
	Equal:       "have the same shape, seed and bits.",
	Now:         ", as it is now,",
	Bytes:       "It is that of a [Filter] of the same keys.",
	Decoded:     "Nobody else may be using it meanwhile.",
	Other:       "a filter that is neither plain, classic nor counting",
	ToBe:        ", to be added to by any number of goroutines",
}, {
	Name: "CountingFilter", File: "counting", Data: "countingData", Load: "LoadCounting",
	About:         "keys can be removed and are counted, for five times the memory.",
	Memory:        "orZero(f).plain().MemoryUsage() + len(orZero(f).counters)",
	MemoryOf:      "its lines and counters",
	Layouts:       "layoutCounting",
	Adds:          true,
	Asked:         "f.plain()",
	ContainsHash:  "f.plain().ContainsHash(hash)",
	SeedIs:        "f.plain().seed()",
	Params:        "return f.plain().Params()",
	ParamsOf:      "the filter. [Params.Bytes] is without the counters, which are four times as many.",
	Shown:         "%d keys, %d lines, k %d",
	ShownOf:       keysLinesK,
	Removes:       true,
	Viewed:        "orZero(f.plain()).view",
	View:          "the plain filter of the keys that are present, at no cost, to read: it sees what is added and removed later, and must not be used while something is.",
	KeyCount:      "are present: those added less those removed. After reading it goes on from what the writer counted, which is 0 if it did not count; it does not fall below 0.",
	EstimatedKeys: "is [Filter.EstimatedKeys]: of the different keys that are present.",
	Prefetch:      ": of the plain filter, for a probe.",
	Add:           "adds a key, once more if it is present.",
	AddIfAbsent:   "adds a key unless it is present, and returns true if it was new: a set, where [CountingFilter.Add] counts. A key that was added before is never new; a new key passes for present, and is then not added, at the false-positive rate: do not remove a key for which it returned false.",
	Equal:         "are encoded as the same bytes: the same shape, seed, counters and key count.",
	Bytes:         "It takes 320 bytes for each line, and 64, counters included. [OpenView] and [Open] probe these bytes as they do those of a [Filter].",
	Other:         "a filter without counters",
	ToBe:          ", to be added to and removed from",
}, {
	Name: "CuckooFilter", File: "cuckoo", Data: "cuckooData", Load: "LoadCuckoo",
	About:         "keys can be removed, in little more memory. It can become full.",
	Memory:        "len(bytesOf(orZero(f).view.cuckoo.all))",
	Layouts:       "layoutCuckoo",
	Hand:          "AddBatch AddStrings", // which return how many were added
	Adds:          true,
	CanFail:       true,
	Removes:       true,
	ContainsHash:  "orZero(f).view.probe(hash)",
	SeedIs:        viewSeed,
	Params:        "params, _ := orZero(f).view.CuckooParams()\nreturn params",
	ParamsType:    "CuckooParams",
	Shown:         "%d keys, %d lines, %d bits",
	ShownOf:       "f.KeyCount(), f.Params().LineCount, f.Params().FingerprintBits",
	Viewed:        "orZero(f).view",
	Lacks:         "EstimatedKeys", // KeyCount is exact
	View:          "the filter to read: cheap to pass on. It sees what is added and removed later, and must not be used while something is.",
	KeyCount:      "are present, repeated ones counted each time: the slots that are taken.",
	Fill:          "returns the fraction of its slots that are taken, 0 to 1: its load. There is room up to 0.95, and a little beyond.",
	EstimatedRate: "returns the false-positive rate at the present fill, 0 to 1. It reads the whole filter. That of the zero CuckooFilter is 1.",
	WorstLineRate: "returns the false-positive rate of the fullest line: see [Filter.WorstLineRate].",
	Prefetch:      ": of both lines that a key can be in.",
	Add:           "adds a key, once more if it is present.",
	AddIfAbsent:   "adds a key unless it is present, and returns true if it was added: a set, where [CuckooFilter.Add] adds a key once more. A key that was added before is never new; a new key passes for present, and is then not added, at the false-positive rate: do not remove a key for which it returned false.",
	Equal:         "are encoded as the same bytes: the same shape, seed and fingerprints, each in the same place. Other orders of the same keys can give other places.",
	Bytes:         "[OpenView] and [Open] probe these bytes.",
	Decoded:       "The keys are counted.",
	Other:         another,
	ToBe:          ", to be added to and removed from",
}, {
	Name: "StaticFilter", File: "static", Data: "staticData", Load: "LoadStatic",
	About:         "all keys are known and never change. It takes a quarter less memory.",
	Memory:        "len(orZero(f).view.encoded)",
	MemoryOf:      "the encoded filter, which is what it has in memory",
	Layouts:       "layoutStatic",
	ContainsHash:  "f == nil || f.view.static.contains(f.view.encoded, hash)",
	SeedIs:        viewSeed,
	Params:        "params, _ := orZero(f).view.StaticParams()\nreturn params",
	ParamsType:    "StaticParams",
	Shown:         "%d keys, %d lines, %d rows",
	ShownOf:       "f.KeyCount(), f.Params().LineCount, f.Params().Rows",
	Viewed:        "orZero(f).view",
	Lacks:         "Fill", // its bits do not depend on how many keys are in
	View:          "the filter to read: cheap to pass on.",
	KeyCount:      "it was built of. It counts repeats; a StaticBuilder drops those that equal one of the last two different keys.",
	EstimatedKeys: "returns KeyCount.",
	EstimatedRate: "returns the false-positive rate, 0 to 1: that of its rows. That of the zero StaticFilter is 1.",
	WorstLineRate: "returns EstimatedRate: it is that of each line. An attacker cannot flood one, since it bumps the keys that it cannot hold.",
	Prefetch:      ", for the first level.",
	Equal:         "are encoded as the same bytes: the same shape, seed and key count, and the same distinct keys.",
	Bytes:         "[OpenView] and [Open] probe these bytes.",
	Other:         another,
	Loaded:        "[Open] maps one.",
}, {
	Name: "ScalableFilter", File: "scalable", Data: "scalableData", Load: "LoadScalable",
	About:       "for an unknown number of keys. It grows and keeps its rate.",
	Memory:      "orZero(f).memory()",
	MemoryOf:    "the lines of all stages",
	Prefetch:    ": of the lines of all stages.",
	Layouts:     "layoutScalable",
	Seed:        "f.hashSeed()",
	Adds:        true,
	AddsAbsent:  true,
	Shown:       "%d keys, %d stages, rate %.3g of %.3g",
	ShownOf:     "f.KeyCount(), len(orZero(f).stages), f.ExpectedRate(), f.Rate()",
	Parts:       "all stages together",
	Cloned:      ", and grows as f would",
	Add:         "adds a key, unless it is present.",
	AddIfAbsent: "adds a key unless it is present, and returns true if it was new. " + noMore + " It is present afterwards in any case.",
	Equal:       "are encoded as the same bytes: the same rate, seed and stages.",
	Bytes:       "[OpenView] does not open these bytes.",
	Decoded:     "It grows on as the one that was encoded.",
	Other:       another + "; [ErrRate]",
	ToBe:        ", to be added to",
}, {
	Name: "GrowingFilter", File: "growing", Data: "growingData", Load: "LoadGrowing",
	About:         "grows and shrinks with its keys, which can be removed, counted and merged.",
	Memory:        "orZero(f).memory()",
	MemoryOf:      "its lines, the room for keys in them, and the tables of where they are",
	Layouts:       "layoutGrowing",
	Adds:          true,
	Removes:       true,
	Copied:        true,
	ContainsHash:  "orZero(f).view.probe(hash)",
	SeedIs:        viewSeed,
	Params:        "params, _ := orZero(f).view.GrowingParams()\nreturn params",
	ParamsType:    "GrowingParams",
	Shown:         "%d keys, for %d at %.3g",
	ShownOf:       "f.KeyCount(), f.Params().ExpectedKeys, f.Params().Rate",
	Viewed:        "orZero(f).view",
	View:          "the filter to read: cheap to pass on. It sees what is added and removed later, and must not be used while something is.",
	KeyCount:      "are present, repeated ones counted each time: those added less those removed.",
	Fill:          "returns the part of what its lines have room for that is there, 0 to 1. It reads the whole filter.",
	EstimatedKeys: "returns how many prefixes are there, each once: so many different keys, but for those that share one. It reads the whole filter.",
	EstimatedRate: "returns the false-positive rate, 0 to 1: the part of all hashes whose prefix is there. It is exact, and reads the whole filter. That of the zero GrowingFilter is 1.",
	WorstLineRate: "returns EstimatedRate: all prefixes are as likely, whatever the line.",
	Add:           "adds a key, once more if it is present.",
	AddIfAbsent:   "adds a key unless it is present, and returns true if it was new: a set, where [GrowingFilter.Add] counts. A key that was added before is never new; a new key passes for present, and is then not added, at the false-positive rate: do not remove a key for which it returned false.",
	Equal:         "are encoded as the same bytes: made with the same numbers, with the same prefixes equally often. Unbounded filters may differ in the lengths of prefixes.",
	Bytes:         "[OpenView] and [Open] probe these bytes.",
	Other:         another + "; [ErrRate]",
	ToBe:          ", to be changed",
}, {
	Name: "Window", File: "window", Data: "windowData", Load: "LoadWindow",
	About:       `keys expire, as in "seen in the last 7 days".`,
	Memory:      "len(bytesOf(orZero(w).lines)) + 8*len(orZero(w).cleared)",
	MemoryOf:    "the lines of all generations, and the marks of those that are out of date",
	Prefetch:    ": of the lines of all generations.",
	Layouts:     "layoutWindow",
	Noun:        "window",
	Adds:        true,
	AddsAbsent:  true,
	SeedIs:      "orZero(w).params.Seed",
	Params:      "return orZero(w).params",
	ParamsOf:    "each generation.",
	Shown:       "slice %d, %d generations, %d keys in the newest",
	ShownOf:     "w.TimeSlice(), w.Generations(), w.KeyCount(0)",
	Parts:       "all generations together",
	Cloned:      ", in the same slice",
	Add:         "adds a key to the newest generation, also if an older one has it.",
	AddIfAbsent: "adds a key to the newest generation, also if an older one has it, and returns true if no generation had it. A key that is present is never new; a new key passes for present at the false-positive rate.",
	Contains:    "reports whether a key may be present. False means that no generation has it.",
	Equal:       "are encoded as the same bytes: the same shape, seed, slice and generations.",
	Bytes:       "[OpenView] does not open these bytes.",
	Decoded:     "It is in the same slice, with the same keys, and rotates as [Window.RotateAfter] was told.",
	Other:       "a filter that is no window; [ErrGenerations]",
	ToBe:        ", to be added to",
}, {
	Name: "Cascade", File: "cascade", Data: "cascadeData", Load: "LoadCascade",
	About:    "exact answers for the keys of two known sets, such as revoked and valid certificates.",
	Memory:   "int(f.Bytes())",
	MemoryOf: "the lines of all layers",
	Prefetch: ", for the first layer.",
	Layouts:  "layoutCascade",
	Noun:     "cascade",
	Seed:     "f.Seed()",
	Shown:    "%d included, %d excluded, %d layers, %d bytes",
	ShownOf:  "f.IncludedCount(), f.ExcludedCount(), len(orZero(f).layers), f.Bytes()",
	Contains: "reports whether a key is included: true for each included key, false for each excluded one.",
	Equal:    "are encoded as the same bytes: the same seed, counts and layers.",
	Bytes:    "[OpenView] does not open these bytes.",
	Other:    "any filter",
}, {
	Name: "Matrix", File: "matrix", Data: "matrixData", Load: "LoadMatrix",
	About:    "thousands of filters of one shape, asked about a key at once, in a bit for each. [MatrixShape] does so from single ranges of one in an object store, [MappedMatrix] from a file: [OpenMatrix].",
	Memory:   "len(orZero(m).view.groups) + len(orZero(m).view.names)",
	MemoryOf: "its groups and names",
	Layouts:  "layoutMatrix",
	Noun:     "matrix",
	Shown:    "%d columns, %d lines, k %d", ShownOf: "m.Columns(), m.Params().LineCount, m.Params().K",
	Answers: true,
	Equal:   "are encoded as the same bytes: the same shape, seed, columns and names, and both with checksums or both without.",
	Bytes:   "[OpenMatrixView] probes these bytes, and [MatrixShape] single ranges of them.",
	Other:   "any filter; [ErrColumns]",
	ToBe:    ", to be changed",
}, {
	// Of another engine's block the hash of a key is another, so what takes keys is by hand.
	Name: "View", File: "view", Hand: "Contains ContainsString ContainsUint64 Prefetch View",
	About:         "reads a filter in a []byte, also a filter block of RocksDB, Pebble, LevelDB or Parquet.",
	Viewed:        "v",
	KeyCount:      "the writer of the filter says that it holds. It is a hint: repeated keys may count each time, and 0 means unknown or none.",
	Fill:          "returns the fraction of all bits that are set, 0 to 1; of a cuckoo filter, of its slots that are taken; see also [GrowingFilter.Fill]. It reads the whole filter. That of the zero View, of a static filter, of a cascade, and of a filter of another engine is 0: it is not known.",
	EstimatedKeys: "returns how many different keys are present, estimated from the fill: see [Filter.EstimatedKeys]. Of a cuckoo filter it is how many slots are taken, of a static one KeyCount, of a growing one how many prefixes are there, of a [Cascade] how many included keys. It reads the whole filter. That of the zero View, and of a filter of another engine, is 0: it is not known.",
	EstimatedRate: "returns the false-positive rate at the present fill, 0 to 1, so that the reader of a file sees when it has become too full. It reads the whole filter. That of the zero View, and of a filter of another engine, is 1: it is not known.",
	WorstLineRate: "is [Filter.WorstLineRate]. That of the zero View, and of a filter of another engine, is 1: it is not known.",
}, {
	Name: "Mapped", File: "mapped", Hand: "Contains ContainsString ContainsUint64 Prefetch View",
	About:         "reads a filter in a file, without a copy: [Open].",
	Viewed:        "orZero(m).View",
	KeyCount:      "the writer of the filter says that it holds: see [View.KeyCount].",
	Fill:          "is [View.Fill].",
	EstimatedKeys: "is [View.EstimatedKeys].",
	EstimatedRate: "is [View.EstimatedRate].",
	WorstLineRate: "is [View.WorstLineRate].",
}}

// R is the name of the receiver.
func (k kind) R() string {
	switch k.Name {
	case "Window", "View", "Mapped", "Matrix":
		return strings.ToLower(k.Name[:1])
	}
	return "f"
}

// Self is the type of the receiver of what is passed on by value.
func (k kind) Self() string {
	if k.Name == "View" {
		return k.Name
	}
	return "*" + k.Name
}

// Nouns is more than one of them.
func (k kind) Nouns() string {
	if k.Noun == "matrix" {
		return "matrices"
	}
	return k.Noun + "s"
}

// Result is what Add returns.
func (k kind) Result() string {
	if k.CanFail {
		return " error"
	}
	return ""
}

// Return is how Add returns it.
func (k kind) Return() string {
	if k.CanFail {
		return "return "
	}
	return ""
}

// AddErrors are the errors of Add, as a paragraph.
func (k kind) AddErrors() string {
	if k.CanFail {
		return "\n//\n// Errors: [ErrFull]; the filter is unchanged."
	}
	return ""
}

// IsNew is what AddIfAbsent returns.
func (k kind) IsNew() string {
	if k.CanFail {
		return "(bool, error)"
	}
	return "bool"
}

//go:embed methods.tmpl
var methods string

// orElse is the text, or another if it is empty.
func orElse(text *string, other string) {
	if *text == "" {
		*text = other
	}
}

// generate returns the file of a kind.
func generate(k kind) ([]byte, error) {
	orElse(&k.Noun, "filter")
	orElse(&k.Seed, k.R()+".seed()")
	orElse(&k.ParamsType, "Params")
	orElse(&k.ParamsOf, "the filter.")
	orElse(&k.Contains, "reports whether a key may be present. False means definitely absent.")
	orElse(&k.ReadFrom, ". It reads from to its end, up to a limit: see [Filter.ReadFrom].")
	orElse(&k.Save, "atomically: see [Filter.Save].")
	orElse(&k.Prefetch, ".")
	orElse(&k.Memory, "len(bytesOf(orZero(f).view.all))")
	orElse(&k.MemoryOf, "its lines")
	orElse(&k.Fill, "is [Filter.Fill].")
	orElse(&k.EstimatedRate, "is [Filter.EstimatedRate].")
	orElse(&k.WorstLineRate, "is [Filter.WorstLineRate].")
	has := func(method string) bool { return !slices.Contains(strings.Fields(k.Hand+" "+k.Lacks), method) }
	parsed, err := template.New("").Funcs(template.FuncMap{"has": has}).Parse(methods)
	if err != nil {
		return nil, err
	}
	var source strings.Builder
	source.WriteString("// Code generated by internal/gen; DO NOT EDIT.\n\n")
	if err := parsed.Execute(&source, k); err != nil {
		return nil, err
	}
	return format.Source([]byte(wrapped(source.String())))
}

// wrapped breaks the lines of comments where they are too long.
func wrapped(source string) string {
	const width = 100
	var out strings.Builder
	for line := range strings.Lines(source) {
		line = strings.TrimRight(line, " \n")
		indent := "// "
		if strings.HasPrefix(line, "//   - ") {
			indent = "//     "
		}
		for strings.HasPrefix(line, "// ") && len(line) > width {
			at := strings.LastIndexByte(line[:width+1], ' ')
			out.WriteString(line[:at] + "\n")
			line = indent + line[at+1:]
		}
		out.WriteString(line + "\n")
	}
	return out.String()
}

// listed returns the documentation of the package, doc.go, with the list of types that rows are of.
func listed(doc string) string {
	const head, rest = "// # Which type\n//\n", "//   - [Group]"
	before, after, _ := strings.Cut(doc, head)
	_, after, found := strings.Cut(after, rest)
	if !found {
		panic("gen: no list of types in doc.go")
	}
	list := ""
	for _, k := range kinds {
		list += fmt.Sprintf("//   - [%s]: %s\n", k.Name, k.About)
	}
	return before + head + wrapped(list) + rest + after
}

func main() {
	doc, err := os.ReadFile("doc.go")
	if err == nil {
		err = os.WriteFile("doc.go", []byte(listed(string(doc))), 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
	for _, k := range kinds {
		source, err := generate(k)
		if err == nil {
			err = os.WriteFile(filepath.Clean(k.File+"_gen.go"), source, 0o644)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "gen:", k.Name, err)
			os.Exit(1)
		}
	}
}
