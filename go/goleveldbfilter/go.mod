module github.com/bloomline/bloomline/go/goleveldbfilter

go 1.24

require (
	github.com/bloomline/bloomline/go v0.1.0
	github.com/syndtr/goleveldb v1.0.1-0.20220721030215-126854af5e6d
)

require github.com/golang/snappy v0.0.4 // indirect

replace github.com/bloomline/bloomline/go => ../
