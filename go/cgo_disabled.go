//go:build bloomline_cgo && !cgo

package bloomline

// The build tag bloomline_cgo asks for C while CGO_ENABLED=0 forbids it. The name below, which
// nothing declares, makes the compiler say so.
var _ = the_build_tag_bloomline_cgo_needs_CGO_ENABLED_1_and_a_C_compiler
