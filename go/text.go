package bloomline

// Filters as text, and so in JSON, XML or YAML: the encoded bytes in base64. And in gob: the bytes.
// The zero value of a kind, which has no encoded form, is the empty text.
//
// The methods that write take a filter by value: encoding/json hands them one where a struct with
// a Filter in it is marshaled by value, and would write {} without them. Go promotes them to a struct that
// embeds a filter: doc.go says what to do about it.

import (
	"encoding/base64"
	"errors"
	"fmt"
)

// text is the MarshalText of all filters.
func (e encoded) text() ([]byte, error) {
	data, err := e.gob()
	if err != nil {
		return nil, err
	}
	text, err := newSlice[byte](base64.StdEncoding.EncodedLen(len(data)))
	if err == nil {
		base64.StdEncoding.Encode(text, data)
	}
	return text, err
}

// gob is the GobEncode of all filters.
func (e encoded) gob() ([]byte, error) {
	if e.err == ErrLineCount {
		return []byte{}, nil
	}
	return e.appendTo(nil)
}

// fromText is the UnmarshalText of all filters.
func fromText(text []byte, into kind) error {
	mustBeThere(into)
	data, err := newSlice[byte](base64.StdEncoding.DecodedLen(len(text)))
	if err != nil {
		return err
	}
	if data, err = base64.StdEncoding.AppendDecode(data[:0], text); err != nil {
		return fmt.Errorf("bloomline: not the text of a filter: %w", err)
	}
	return fromGob(data, into)
}

// fromGob is the GobDecode of all filters.
func fromGob(data []byte, into kind) error {
	mustBeThere(into)
	if len(data) == 0 {
		into.reset()
		return nil
	}
	return unmarshal(data, into, false)
}

// noText is for what has no encoded form of its own. Without it, encoding/json writes {} and says
// nothing.
type noText struct{}

var errNoText = fmt.Errorf("bloomline: a View or Swap has no encoded form, marshal its Filter: %w", errors.ErrUnsupported)

// MarshalText fails: what has no encoded form must not be lost in silence.
func (noText) MarshalText() ([]byte, error) { return nil, errNoText }

// UnmarshalText fails, as MarshalText.
func (*noText) UnmarshalText([]byte) error { return errNoText }

// ---- Filter ----

// MarshalText returns the encoded filter in base64, as [encoding.TextMarshaler]. It is a string in
// JSON. That of the zero Filter is empty.
func (f filterData) MarshalText() ([]byte, error) { return f.encoded().text() }

// UnmarshalText reads what MarshalText wrote, as [encoding.TextUnmarshaler]. All of it is checked.
//
// Errors: those of [Filter.UnmarshalBinary], and of base64; the filter is then unchanged.
func (f *Filter) UnmarshalText(text []byte) error { return fromText(text, f) }

// GobEncode returns the encoded filter, as [gob.GobEncoder], of the zero Filter no bytes.
func (f filterData) GobEncode() ([]byte, error) { return f.encoded().gob() }

// GobDecode reads what GobEncode wrote, as [gob.GobDecoder].
func (f *Filter) GobDecode(data []byte) error { return fromGob(data, f) }

func (f *Filter) reset() { f.filterData = filterData{} }

// ---- ConcurrentFilter ----

// MarshalText returns the encoded filter in base64, as [encoding.TextMarshaler]. It is a string in
// JSON. That of the zero ConcurrentFilter is empty.
func (f concurrentData) MarshalText() ([]byte, error) { return f.encoded().text() }

// UnmarshalText reads what MarshalText wrote, as [encoding.TextUnmarshaler]. All of it is checked.
//
// Errors: those of [ConcurrentFilter.UnmarshalBinary], and of base64; the filter is then unchanged.
func (f *ConcurrentFilter) UnmarshalText(text []byte) error { return fromText(text, f) }

// GobEncode returns the encoded filter, as [gob.GobEncoder], of the zero ConcurrentFilter no bytes.
func (f concurrentData) GobEncode() ([]byte, error) { return f.encoded().gob() }

// GobDecode reads what GobEncode wrote, as [gob.GobDecoder].
func (f *ConcurrentFilter) GobDecode(data []byte) error { return fromGob(data, f) }

func (f *ConcurrentFilter) reset() { f.concurrentData = concurrentData{} }

// ---- CountingFilter ----

// MarshalText returns the encoded filter in base64, as [encoding.TextMarshaler]. It is a string in
// JSON. That of the zero CountingFilter is empty.
func (f countingData) MarshalText() ([]byte, error) { return f.encoded().text() }

// UnmarshalText reads what MarshalText wrote, as [encoding.TextUnmarshaler]. All of it is checked.
//
// Errors: those of [CountingFilter.UnmarshalBinary], and of base64; the filter is then unchanged.
func (f *CountingFilter) UnmarshalText(text []byte) error { return fromText(text, f) }

// GobEncode returns the encoded filter, as [gob.GobEncoder], of the zero CountingFilter no bytes.
func (f countingData) GobEncode() ([]byte, error) { return f.encoded().gob() }

// GobDecode reads what GobEncode wrote, as [gob.GobDecoder].
func (f *CountingFilter) GobDecode(data []byte) error { return fromGob(data, f) }

func (f *CountingFilter) reset() { f.countingData = countingData{} }

// ---- CuckooFilter ----

// MarshalText returns the encoded filter in base64, as [encoding.TextMarshaler]. It is a string in
// JSON. That of the zero CuckooFilter is empty.
func (f cuckooData) MarshalText() ([]byte, error) { return f.encoded().text() }

// UnmarshalText reads what MarshalText wrote, as [encoding.TextUnmarshaler]. All of it is checked.
//
// Errors: those of [CuckooFilter.UnmarshalBinary], and of base64; the filter is then unchanged.
func (f *CuckooFilter) UnmarshalText(text []byte) error { return fromText(text, f) }

// GobEncode returns the encoded filter, as [gob.GobEncoder], of the zero CuckooFilter no bytes.
func (f cuckooData) GobEncode() ([]byte, error) { return f.encoded().gob() }

// GobDecode reads what GobEncode wrote, as [gob.GobDecoder].
func (f *CuckooFilter) GobDecode(data []byte) error { return fromGob(data, f) }

func (f *CuckooFilter) reset() { f.cuckooData = cuckooData{} }

// ---- StaticFilter ----

// MarshalText returns the encoded filter in base64, as [encoding.TextMarshaler]. It is a string in
// JSON. That of the zero StaticFilter is empty.
func (f staticData) MarshalText() ([]byte, error) { return f.encoded().text() }

// UnmarshalText reads what MarshalText wrote, as [encoding.TextUnmarshaler]. All of it is checked.
//
// Errors: those of [StaticFilter.UnmarshalBinary], and of base64; the filter is then unchanged.
func (f *StaticFilter) UnmarshalText(text []byte) error { return fromText(text, f) }

// GobEncode returns the encoded filter, as [gob.GobEncoder], of the zero StaticFilter no bytes.
func (f staticData) GobEncode() ([]byte, error) { return f.encoded().gob() }

// GobDecode reads what GobEncode wrote, as [gob.GobDecoder].
func (f *StaticFilter) GobDecode(data []byte) error { return fromGob(data, f) }

func (f *StaticFilter) reset() { f.staticData = staticData{} }

// ---- ScalableFilter ----

// MarshalText returns the encoded filter in base64, as [encoding.TextMarshaler]. It is a string in
// JSON. That of the zero ScalableFilter is empty.
func (f scalableData) MarshalText() ([]byte, error) { return f.encoded().text() }

// UnmarshalText reads what MarshalText wrote, as [encoding.TextUnmarshaler]. All of it is checked.
//
// Errors: those of [ScalableFilter.UnmarshalBinary], and of base64; the filter is then unchanged.
func (f *ScalableFilter) UnmarshalText(text []byte) error { return fromText(text, f) }

// GobEncode returns the encoded filter, as [gob.GobEncoder], of the zero ScalableFilter no bytes.
func (f scalableData) GobEncode() ([]byte, error) { return f.encoded().gob() }

// GobDecode reads what GobEncode wrote, as [gob.GobDecoder].
func (f *ScalableFilter) GobDecode(data []byte) error { return fromGob(data, f) }

func (f *ScalableFilter) reset() { f.scalableData = scalableData{} }

// ---- Window ----

// MarshalText returns the encoded window in base64, as [encoding.TextMarshaler]. It is a string in
// JSON. That of the zero Window is empty.
func (w windowData) MarshalText() ([]byte, error) { return w.encoded().text() }

// UnmarshalText reads what MarshalText wrote, as [encoding.TextUnmarshaler]. All of it is checked.
//
// Errors: those of [Window.UnmarshalBinary], and of base64; the window is then unchanged.
func (w *Window) UnmarshalText(text []byte) error { return fromText(text, w) }

// GobEncode returns the encoded window, as [gob.GobEncoder], of the zero Window no bytes.
func (w windowData) GobEncode() ([]byte, error) { return w.encoded().gob() }

// GobDecode reads what GobEncode wrote, as [gob.GobDecoder].
func (w *Window) GobDecode(data []byte) error { return fromGob(data, w) }

func (w *Window) reset() { w.windowData = windowData{} }
