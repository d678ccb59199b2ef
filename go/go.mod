module github.com/bloomline/bloomline/go

go 1.24

require (
	github.com/klauspost/cpuid/v2 v2.2.10
	github.com/zeebo/xxh3 v1.1.0
)

require golang.org/x/sys v0.30.0 // indirect
