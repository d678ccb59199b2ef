// Package prefetch asks the CPU for a cache line without waiting for it. It is an instruction that
// Go has no name for; a read instead gains nothing, since the CPU looks ahead no further than it.
// A package of its own, since one that uses cgo may have no assembly.
package prefetch
