package bloomline

import (
	"os"
	"testing"
)

// What answers batches is what was asked for: scripts/go-test.sh forces each backend in turn.
func TestBackend(t *testing.T) {
	t.Logf("backend %s", Backend())
	if want, forced := os.LookupEnv("BLOOMLINE_EXPECT_BACKEND"); forced && Backend() != want {
		t.Errorf("backend %q, want %q", Backend(), want)
	}
}
