package bloomline

import "syscall"

// adviseHugePages is a wish; where it is not granted, filters are slower and no worse.
func adviseHugePages(bytes []byte) {
	whole := bytes[:len(bytes)&^(hugePage-1)]
	_ = syscall.Madvise(whole, syscall.MADV_HUGEPAGE)
}
