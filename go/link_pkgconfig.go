//go:build bloomline_cgo && !bloomline_static

package bloomline

// The installed C library, as pkg-config finds it.

// #cgo pkg-config: bloomline
import "C"
