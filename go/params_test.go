package bloomline

// Shapes: their JSON, and what a filter of them says while it is empty.

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"
)

// The names are those of Rust: tests/serde.rs.
func TestParamsAreTheJSONOfRust(t *testing.T) {
	for text, params := range map[string]any{
		`{"line_count":157,"k":6,"classic":true,"seed":18446744073709551615}`: &Params{157, 6, true, math.MaxUint64},
		`{"line_count":9,"fingerprint_bits":12,"seed":0}`:                     &CuckooParams{9, 12, 0},
		`{"line_count":9,"rows":7,"seed":1}`:                                  &StaticParams{9, 7, 1},
	} {
		if data, err := json.Marshal(params); err != nil || string(data) != text {
			t.Errorf("%s, not %s (%v)", data, text, err)
		}
		read := reflect.New(reflect.TypeOf(params).Elem())
		if err := json.Unmarshal([]byte(text), read.Interface()); err != nil || !reflect.DeepEqual(read.Interface(), params) {
			t.Errorf("%s is %v (%v)", text, read, err)
		}
	}
}

func TestAnEmptyFilterHasNoKeys(t *testing.T) {
	for _, params := range []Params{{LineCount: 7, K: 6}, {LineCount: 7, K: 6, Classic: true}} {
		if keys := params.keysForFill(0); math.Signbit(keys) || keys != 0 {
			t.Errorf("%v keys", keys) // -0 is printed as such
		}
	}
}
