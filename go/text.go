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
	if e.err == ErrNoLines {
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

var errNoText = fmt.Errorf("bloomline: only filters have an encoded form, not what views, describes, holds or builds one: %w", errors.ErrUnsupported)

// MarshalText fails: what has no encoded form must not be lost in silence.
func (noText) MarshalText() ([]byte, error) { return nil, errNoText }

// UnmarshalText fails, as MarshalText.
func (*noText) UnmarshalText([]byte) error { return errNoText }
