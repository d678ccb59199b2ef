//go:build bloomline_cgo && bloomline_static

package bloomline

// The archive that `make go` puts into the tree for the platform it runs on.

// #cgo linux,amd64 CFLAGS: -I${SRCDIR}/clib/linux_amd64
// #cgo linux,amd64 LDFLAGS: ${SRCDIR}/clib/linux_amd64/libbloomline.a
// #cgo linux,arm64 CFLAGS: -I${SRCDIR}/clib/linux_arm64
// #cgo linux,arm64 LDFLAGS: ${SRCDIR}/clib/linux_arm64/libbloomline.a
// #cgo linux LDFLAGS: -lpthread -ldl -lm
// #cgo darwin,arm64 CFLAGS: -I${SRCDIR}/clib/darwin_arm64
// #cgo darwin,arm64 LDFLAGS: ${SRCDIR}/clib/darwin_arm64/libbloomline.a
// #cgo darwin,amd64 CFLAGS: -I${SRCDIR}/clib/darwin_amd64
// #cgo darwin,amd64 LDFLAGS: ${SRCDIR}/clib/darwin_amd64/libbloomline.a
// #cgo !linux,!darwin CFLAGS: -DBLOOMLINE_NO_ARCHIVE
import "C"
