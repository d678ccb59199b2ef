// Package host is what the operating system is asked for: memory, huge pages, mapped files, owners of files. A
// system that has none of these says so, or does nothing.
package host
