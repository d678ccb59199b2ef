package bloomline

// What only growing filters have: sets, counts, lists. Trees of pieces are tested in internal/growing.

import (
	"fmt"
	"testing"
)

// growingOther answers the verbs of histories that no other kind has.
func growingOther(t *testing.T, filter anyKind, words []string) string {
	if words[0] != "count" {
		return ""
	}
	f, keys := filter.(*GrowingFilter), readHistoryKeys(t, words[1:])
	count := f.CountHash(keys.hashed(f.seed())[0])
	if keys.bytes && (f.CountString(keys.texts[0]) != count || f.Count(keys.slices[0]) != count) {
		t.Errorf("%q alone is another", keys.texts[0])
	}
	return fmt.Sprint(count)
}
