// Package copied has what go vet reports: filters that are copied. scripts/go-test.sh holds it to that.
package copied

import bloomline "github.com/bloomline/bloomline/go"

// Config has a filter that goes along when it is copied.
type Config struct{ Seen bloomline.Filter }

// Seen returns a copy.
func Seen(config *Config) bloomline.Filter {
	return config.Seen
}
