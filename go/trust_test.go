package bloomline

// The package as a program uses it that does not read its documentation first: filters in JSON,
// gob and streams, in structs that are copied, by nil pointers, with several seeds in one call.

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/bloomline/bloomline/go/internal/engine"
)

func holds(t *testing.T, what string, got, want anyKind) {
	t.Helper()
	if !equal(got, want) || !got.ContainsString("apple") || got.ContainsString("quince") {
		t.Errorf("%s: another filter came back", what)
	}
}

// A filter that is marshaled is there after it is unmarshaled, by whatever writes structs.
func TestMarshaledKinds(t *testing.T) {
	for name, filter := range trusted(t) {
		for form, codec := range map[string]struct {
			marshal   func(any) ([]byte, error)
			unmarshal func([]byte, any) error
		}{
			"json": {json.Marshal, json.Unmarshal},
			"xml":  {xml.Marshal, xml.Unmarshal},
			"gob": {
				func(v any) ([]byte, error) {
					var buffer bytes.Buffer
					err := gob.NewEncoder(&buffer).Encode(v)
					return buffer.Bytes(), err
				},
				func(data []byte, v any) error { return gob.NewDecoder(bytes.NewReader(data)).Decode(v) },
			},
		} {
			what := name + " in " + form
			data, err := codec.marshal(filter)
			if err != nil {
				t.Errorf("%s: %v", what, err)
				continue
			}
			back := fresh(filter)
			if err := codec.unmarshal(data, back); err != nil {
				t.Errorf("%s: %v", what, err)
				continue
			}
			holds(t, what, back, filter)

			// In a struct that is handed over by value, beside others that nobody has set.
			value := reflect.TypeOf(filter).Elem()
			record := reflect.New(reflect.StructOf([]reflect.StructField{
				{Name: "Name", Type: reflect.TypeFor[string]()},
				{Name: "Held", Type: value},
				{Name: "Unset", Type: value},
				{Name: "Pointer", Type: reflect.PointerTo(value)},
			}))
			record.Elem().Field(0).SetString("a name")
			record.Elem().Field(1).Set(reflect.ValueOf(cloneOf(filter)).Elem())
			if form == "xml" {
				continue // which has no name for a struct type without one
			}
			if data, err = codec.marshal(record.Elem().Interface()); err != nil {
				t.Errorf("%s, by value: %v", what, err)
				continue
			}
			read := reflect.New(record.Elem().Type())
			if err := codec.unmarshal(data, read.Interface()); err != nil {
				t.Errorf("%s, by value: %v", what, err)
				continue
			}
			holds(t, what+", by value", read.Elem().Field(1).Addr().Interface().(anyKind), filter)
			if unset := read.Elem().Field(2).Addr().Interface(); !equal(unset, fresh(filter)) ||
				!read.Elem().Field(3).IsNil() || read.Elem().Field(0).String() != "a name" {
				t.Errorf("%s: what was not set came back as something", what)
			}
		}
		text, err := filter.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		back := cloneOf(filter)
		for _, bad := range []string{"no base64!", "AAAA", string(text[4:]), string(text[:len(text)-4])} {
			if back.UnmarshalText([]byte(bad)) == nil {
				t.Errorf("%s: %.20q is taken for a filter", name, bad)
			}
			holds(t, name+" after a bad text", back, filter)
		}
	}
}

// What has no bytes of its own is an error, not {}.
func TestMarshaledByMistake(t *testing.T) {
	filter := mustNew(t, 10, 0.01)
	filter.AddString("apple")
	view, swap, mapped := filter.View(), NewSwap(filter), &Mapped{View: filter.View()}
	matrix := orPanic(NewMatrix(Params{LineCount: 1, K: 6}, 2))
	column := HashesColumn([]uint64{1}, Validity{})
	journal := orPanic(CreateJournal(filepath.Join(t.TempDir(), "journal"), orPanic(NewGrowing(10, 0.01)), 0))
	defer journal.Close()
	for name, value := range map[string]any{
		"view": view, "view pointer": &view, "swap": swap, "mapped": mapped,
		"struct": struct{ Seen View }{view}, "views": []View{view},
		"matrix view": matrix.View(), "mapped matrix": &MappedMatrix{MatrixView: matrix.View()}, "group": NewGroup([]View{view}),
		"shape": matrix.Shape(), "struct with a shape": struct{ S MatrixShape }{matrix.Shape()}, "column": column, "column pointer": &column,
		"static builder": orPanic(NewStaticBuilder(0.01)), "concurrent builder": orPanic(NewConcurrentBuilder(Params{LineCount: 1, K: 6})),
		"journal": journal, "struct with a journal": struct{ Kept *Journal }{journal},
	} {
		if data, err := json.Marshal(value); err == nil {
			t.Errorf("%s: %s", name, data)
		}
		if err := gob.NewEncoder(io.Discard).Encode(value); err == nil {
			t.Errorf("%s: gob writes something", name)
		}
	}
	text, _ := json.Marshal(filter)
	for _, into := range []any{
		new(View), new(Swap[Filter]), new(Mapped), new(MatrixView), new(MappedMatrix), new(Group),
		new(MatrixShape), new(Column), new(StaticBuilder), new(ConcurrentBuilder), new(Journal),
	} {
		for _, data := range []string{"{}", `""`, string(text)} {
			if err := json.Unmarshal([]byte(data), into); err == nil {
				t.Errorf("%T from %.10s: no error", into, data)
			}
		}
	}
	// Shapes are written field by field.
	params, back := Params{LineCount: 3, K: 6, Seed: 1<<64 - 1}, Params{}
	data, err := json.Marshal(params)
	if err == nil {
		err = json.Unmarshal(data, &back)
	}
	if err != nil || back != params {
		t.Errorf("%v came back as %v: %v", params, back, err)
	}
}

// What go vet looks for in each type that must not be copied.
func TestNoCopies(t *testing.T) {
	locker := reflect.TypeFor[interface {
		Lock()
		Unlock()
	}]()
	kinds := []reflect.Type{reflect.TypeFor[StaticBuilder](), reflect.TypeFor[Mapped]()}
	for _, filter := range trusted(t) {
		kinds = append(kinds, reflect.TypeOf(filter).Elem())
	}
	for _, kind := range kinds {
		marked := false
		for i := range kind.NumField() {
			marked = marked || reflect.PointerTo(kind.Field(i).Type).Implements(locker)
		}
		if !marked {
			t.Errorf("go vet takes copies of %v", kind)
		}
	}
}

// A clone is equal, until one of the two changes, and shares nothing.
func TestClones(t *testing.T) {
	all := trusted(t)
	for _, row := range kindRows {
		filter, ok := all[row.name]
		if !ok {
			continue // it answers by columns
		}
		name, clone := row.name, cloneOf(filter)
		holds(t, name+" cloned", clone, filter)
		if row.spoil != nil {
			row.spoil(clone)
		} else {
			addsOf(clone).(adder).AddString("pear")
		}
		if filter.ContainsString("pear") || !clone.ContainsString("pear") || equal(clone, filter) {
			t.Errorf("%s: a clone shares its memory", name)
		}
		if !equal(fresh(filter), cloneOf(fresh(filter))) || equal(filter, fresh(filter)) || equal(fresh(filter), filter) {
			t.Errorf("%s: zero values", name)
		}
		none := nilOf(filter)
		if !equal(none, fresh(filter)) || !equal(cloneOf(none), fresh(filter)) {
			t.Errorf("%s: nil", name)
		}
	}
	// Counts are copied with the bits.
	counting, err := NewCounting(10, 0.01)
	if err != nil {
		t.Fatal(err)
	}
	counting.AddStrings([]string{"apple", "apple"})
	clone := counting.Clone()
	if err := clone.Remove([]byte("apple")); err != nil || clone.CountString("apple") != 1 || counting.CountString("apple") != 2 {
		t.Error("counts are shared")
	}
}

// A filter that is not there hides no key: by nil pointer, and in a Swap before it is published.
func TestNothingAnswersMaybe(t *testing.T) {
	type asked interface {
		Contains([]byte) bool
		ContainsString(string) bool
		ContainsHash(uint64) bool
		ContainsBatch([][]byte, Bitmap) Bitmap
		ContainsStrings([]string, Bitmap) Bitmap
		ContainsHashes([]uint64, Bitmap) Bitmap
		Hash([]byte) uint64
	}
	var (
		filters   Swap[Filter]
		views     Swap[View]
		files     Swap[Mapped]
		windows   Swap[Window]
		scalables Swap[ScalableFilter]
	)
	nothings := map[string]asked{
		"Mapped": (*Mapped)(nil), "swapped Filter": filters.Load(), "swapped View": views.Load(),
		"swapped Mapped": files.Load(), "swapped Window": windows.Load(), "swapped ScalableFilter": scalables.Load(),
		"NewSwap(nil)": NewSwap[Filter](nil).Load(),
	}
	for name, filter := range trusted(t) {
		nothings[name] = nilOf(filter)
	}
	for name, nothing := range nothings {
		if !nothing.Contains([]byte("apple")) || !nothing.ContainsString("apple") || !nothing.ContainsHash(1) ||
			nothing.ContainsBatch(make([][]byte, 600), nil).Count() != 600 ||
			nothing.ContainsStrings(make([]string, 600), nil).Count() != 600 ||
			nothing.ContainsHashes(make([]uint64, 600), nil).Count() != 600 || nothing.Hash(nil) != Hash(nil, 0) && name != "swapped View" && name != "Mapped" && name != "swapped Mapped" {
			t.Errorf("a nil %s says no", name)
		}
		if text, ok := nothing.(fmt.Stringer); ok && text.String() == "" {
			t.Errorf("%s has no name", name)
		}
	}
	var filter *Filter
	var counting *CountingFilter
	var cuckoo *CuckooFilter
	var window *Window
	var scalable *ScalableFilter
	var shared *ConcurrentFilter
	var mapped *Mapped
	if filter.KeyCount() != 0 || filter.EstimatedRate() != 1 || filter.WorstLineRate() != 1 || filter.Params() != (Params{}) ||
		!filter.View().ContainsHash(3) || filter.Union(nil) != nil || filter.Union(mustNew(t, 1, 0.1)) != ErrMismatch ||
		counting.CountString("a") != mostCount || counting.Remove(nil) != ErrNoLines || counting.EstimatedRate() != 1 ||
		cuckoo.Remove(nil) != ErrNoLines || cuckoo.Fill() != 0 ||
		window.KeyCount(0) != 0 || window.Generations() != 0 || scalable.ExpectedRate() != 1 || len(scalable.Stages()) != 0 ||
		shared.EstimatedKeys() != 0 || mapped.Close() != nil {
		t.Error("nil pointers have something in them")
	}
	for name, filter := range kindsOf(t) {
		func() {
			defer func() {
				if text, _ := recover().(string); !strings.Contains(text, "insert into a zero "+typeName(name)+": create it with New") {
					t.Errorf("%s: %q", name, text)
				}
			}()
			if batches, ok := nilOf(filter).(ifAbsentBatches); ok {
				batches.AddHashesIfAbsent(make([]uint64, 3), nil)
			} else {
				addsOf(nilOf(filter)).(adder).AddString("a")
			}
		}()
	}
}

// The View of a filter is asked where it is returned.
func TestViewsOfNoVariable(t *testing.T) {
	filter := mustNew(t, 10, 0.01)
	filter.AddString("apple")
	views := map[string]View{"one": filter.View()}
	if !filter.View().ContainsString("apple") || filter.View().Contains([]byte("pear")) || !views["one"].ContainsString("apple") {
		t.Error("another view")
	}
}

// Filters of several seeds, and of other engines, in one call: no key vanishes.
func TestViewsOfManySeeds(t *testing.T) {
	filter := func(seed uint64) View {
		filter := mustNew(t, 1000, 0.01, WithSeed(seed))
		for i := range 500 {
			filter.AddString(fmt.Sprint("key ", i))
		}
		return filter.View()
	}
	hashesOfRocksDB := make([]uint64, 500)
	for i := range hashesOfRocksDB {
		hashesOfRocksDB[i] = engine.XXPH3(fmt.Append(nil, "key ", i))
	}
	rocksdb, err := OpenRocksDB(engine.AppendFastLocal(nil, hashesOfRocksDB, 10))
	if err != nil {
		t.Fatal(err)
	}
	views := []View{filter(0), filter(0), rocksdb, filter(7), {}, filter(8), filter(7)}
	for i := range 500 {
		key := fmt.Append(nil, "key ", i)
		if answers := ViewsContain(views, key, nil); answers.Count() != len(views) {
			t.Fatalf("%s is in all of them: %b", key, answers)
		}
		answers := ViewsContain(views, []byte{byte(i), 1, 2}, nil)
		for at, view := range views {
			if answers.Has(at) != view.Contains([]byte{byte(i), 1, 2}) {
				t.Fatalf("view %d gives another answer alone", at)
			}
		}
	}
	if len(ViewsContain(nil, nil, nil)) != 0 || len(ViewsContainHash(nil, 1, nil)) != 0 {
		t.Error("no views")
	}
	// One hash is that of all views of its seed, and of those to which it makes no difference.
	alike, mixed := []View{filter(7), {}, filter(7)}, []View{filter(7), filter(8)}
	for _, hash := range randomHashes(500, 2) {
		answers := ViewsContainHash(alike, hash, Bitmap{^uint64(0)})
		for at, view := range alike {
			if answers.Has(at) != view.ContainsHash(hash) {
				t.Fatalf("view %d gives another answer alone", at)
			}
		}
		if n := ViewsContainHash(mixed, hash, nil).Count(); n != 2 {
			t.Fatalf("%d of 2 answers of two seeds are maybe", n)
		}
	}
	hashes := make([]uint64, 500)
	for i := range hashes {
		hashes[i] = HashString(fmt.Sprint("key ", i), 7)
	}
	for name, mixed := range map[string][]View{
		"seeds":   {filter(7), filter(8)},
		"engines": {filter(0), rocksdb},
		"later":   {filter(7), {}, filter(7), filter(8)},
	} {
		if n := ShardsContainHashes(mixed, hashes, nil).Count(); n != len(hashes) {
			t.Errorf("%s: %d of %d keys that are in", name, n, len(hashes))
		}
	}
	// One that has nothing to say spoils nothing.
	others := make([]uint64, 2000)
	for i := range others {
		others[i] = HashUint64(uint64(i), 7)
	}
	if n := ShardsContainHashes([]View{filter(7), {}, filter(7)}, others, nil).Count(); n > 1000 {
		t.Errorf("%d of %d keys that are not in", n, len(others))
	}
}
