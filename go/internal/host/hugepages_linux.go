package host

import "syscall"

// AdviseHugePages is a wish for whole pages; where it is not granted, filters are slower and no
// worse.
func AdviseHugePages(pages []byte) {
	_ = syscall.Madvise(pages, syscall.MADV_HUGEPAGE)
}
