// Package bench measures Bloomline beside other Go filters, at equal memory: `make bench-go`.
// It is a module of its own, so that nobody else needs what it is measured against.
package bench
