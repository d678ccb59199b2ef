package redisfilter

// Files in and out: one file of the library for each shard.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	bloomline "github.com/bloomline/bloomline/go"
	"github.com/bloomline/bloomline/go/internal/host"
	"github.com/redis/go-redis/v9"
	"github.com/zeebo/xxh3"
)

// chunkBytes is how much of a shard is sent or read at once: a multiple of a line, and little
// enough that other clients do not wait.
const chunkBytes = 1 << 20

// ShardFile is the name of a shard's file in the directory of an export.
func ShardFile(shard, shards int) string {
	return fmt.Sprintf("shard-%05d-of-%05d.bloomline", shard, shards)
}

// ShardFiles are the paths of all shards' files in a directory.
func ShardFiles(dir string, shards int) []string {
	paths := make([]string, shards)
	for i := range paths {
		paths[i] = filepath.Join(dir, ShardFile(i, shards))
	}
	return paths
}

// Import makes the files a filter, in the place of the one of this name or as the first: file i
// has the keys whose hash has [bloomline.ShardOf] i among so many. One file is a filter of one
// shard. All have the same line count, k and seed. The shards are sent at once; clients go over to
// the new filter when all are there, and the old one is unchanged if anything fails.
//
// Keys that are added to the old filter from when the files are built until all are sent are not
// in the new one. Where there are such, use [StageFiles], add them again, and publish.
//
// Errors: those of [StageFiles] and [Filter.Publish].
func Import(ctx context.Context, client redis.UniversalClient, name string, files []string, all ...Option) (*Filter, error) {
	files = slices.Clone(files)
	return bounded(ctx, func() (*Filter, error) {
		f, err := stageFiles(ctx, client, name, files, all)
		if err != nil {
			return nil, err
		}
		if err := f.publish(ctx, true); err != nil {
			return nil, fmt.Errorf("redisfilter: publishing generation %s: %w", f.state.Load().generation, err)
		}
		return f, nil
	})
}

// StageFiles is [Stage] of files: see [Import]. Inserts go to both filters from when it returns.
//
// Errors: those of the system; those of [bloomline.Load] for a damaged file; [ErrMismatch] if the
// files are not of one filter; [ErrShards]; [ErrUnsupported] with [StoreBF].
func StageFiles(ctx context.Context, client redis.UniversalClient, name string, files []string, all ...Option) (*Filter, error) {
	files = slices.Clone(files)
	return bounded(ctx, func() (*Filter, error) { return stageFiles(ctx, client, name, files, all) })
}

func stageFiles(ctx context.Context, client redis.UniversalClient, name string, files []string, all []Option) (*Filter, error) {
	f, o, err := newFilter(client, name, all)
	if err == nil {
		err = onMaster(ctx, client)
	}
	if err != nil {
		return nil, err
	}
	if len(files) < 1 || len(files) > maxShards || o.shards != 0 && o.shards != len(files) {
		return nil, fmt.Errorf("%w: there are %d files", ErrShards, len(files))
	}
	d := description{store: o.store, generation: newGeneration(), shards: len(files)}
	for i, path := range files {
		end, err := footerOf(path)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			d.params = end.params
		} else if end.params != d.params {
			return nil, fmt.Errorf("%w: %s and %s", ErrMismatch, files[0], path)
		}
		d.keys += end.keyCount
	}
	if d.params.LineCount > maxShardLines {
		return nil, fmt.Errorf("%w: a file has %d bytes", ErrShards, d.shardBytes())
	}
	d.rate = d.params.Rate(int(min(d.keys/uint64(d.shards), 1<<62)))
	if d.store == "" {
		if d.store, err = chooseStore(ctx, client); err != nil {
			return nil, err
		}
		if d.store == StoreBF {
			d.store = StoreLines
		}
	}
	st := newState(name, d)
	to, err := filesOf(st)
	if err != nil {
		return nil, err
	}
	f.staged.Store(true)
	f.begin(st)
	err = eachShard(ctx, d.shards, func(ctx context.Context, i int) error {
		return uploadFile(ctx, client, to, d, st.keys[i], files[i])
	})
	if err != nil {
		f.dropStaged(ctx)
		return nil, fmt.Errorf("redisfilter: importing: %w", err)
	}
	return orNil(f, f.announceBuilding(ctx))
}

// Export writes a file for each shard into a directory, and returns their paths: see [ShardFile].
// Each is a file of the library, with all keys that were added before the call. Files that are
// there are replaced atomically.
//
// Errors: [ErrUnsupported] with [StoreBF]; [ErrShardLost]; those of the system. With
// [StoreModule] inserts must rest meanwhile, or it fails with [bloomline.ErrChecksum].
func (f *Filter) Export(ctx context.Context, dir string) ([]string, error) {
	return bounded(ctx, func() ([]string, error) {
		st, err := f.latest(ctx)
		if err != nil {
			return nil, err
		}
		paths := ShardFiles(dir, st.shards)
		err = eachShard(ctx, st.shards, func(ctx context.Context, i int) error {
			return host.Replace(paths[i], writerTo(func(file io.Writer) error {
				if err := f.exportShard(ctx, st, i, file); err != nil {
					return err
				}
				return ctx.Err() // after which no file changes
			}))
		})
		return paths, err
	})
}

// writerTo writes as [host.Replace] wants it, which does not ask how much.
type writerTo func(io.Writer) error

func (write writerTo) WriteTo(w io.Writer) (int64, error) { return 0, write(w) }

// ExportShard writes one shard's file. Another client's [Filter.Publish] may change the number of shards,
// and files of different generations do not fit together: compare Info's Generation before and after.
//
// Errors: those of [Filter.Export]; [ErrShards] if there is no such shard.
func (f *Filter) ExportShard(ctx context.Context, shard int, to io.Writer) error {
	st, err := bounded(ctx, func() (*state, error) { return f.latest(ctx) })
	if err != nil {
		return err
	}
	if shard < 0 || shard >= st.shards {
		return ErrShards
	}
	// The caller's writer is used here alone, where nothing goes on after the context is done.
	read, write := io.Pipe()
	defer read.Close()
	stop := context.AfterFunc(ctx, func() { _ = write.CloseWithError(withDeadline(ctx, errNoAnswer)) })
	defer stop()
	go func() { _ = write.CloseWithError(f.exportShard(ctx, st, shard, write)) }()
	_, err = io.Copy(to, read)
	return err
}

func (f *Filter) exportShard(ctx context.Context, st *state, shard int, to io.Writer) error {
	files, err := filesOf(st)
	if err != nil {
		return err
	}
	hash := xxh3.New()
	end, err := files.download(ctx, f.client, st.keys[shard], func(chunk []byte) error {
		_, _ = hash.Write(chunk) // which cannot fail
		_, err := to.Write(chunk)
		return err
	})
	if err != nil {
		return err
	}
	stored, err := readFooter(end)
	switch {
	case err != nil:
		return err
	case stored.params != st.params:
		return ErrShardLost
	case stored.linesChecksum != hash.Sum64():
		if st.description.store != StoreLines {
			return fmt.Errorf("the shard changed meanwhile: %w", bloomline.ErrChecksum)
		}
		// Keys were added since the footer was written. How many is not known.
		end = footer{params: st.params, linesChecksum: hash.Sum64()}.bytes()
	}
	_, err = to.Write(end)
	return err
}

// ---- a shard's bytes ----

// fileStore is a store that gives and takes the library's files.
type fileStore interface {
	// upload sends the bytes of a file to a new key: begin once, then all chunks, the footer's last.
	upload(ctx context.Context, client redis.UniversalClient, key string, at, length int64, chunk []byte) error
	// download calls take with the lines, chunk by chunk, and returns the footer.
	download(ctx context.Context, client redis.UniversalClient, key string, take func(chunk []byte) error) ([]byte, error)
}

// filesOf returns the store's files, if it has such.
func filesOf(st *state) (fileStore, error) {
	if files, ok := st.store.(fileStore); ok {
		return files, nil
	}
	return nil, fmt.Errorf("%w: files with store %q", ErrUnsupported, st.description.store)
}

// uploadFile sends a file to a key, and verifies it on the way.
func uploadFile(ctx context.Context, client redis.UniversalClient, to fileStore, d description, key, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	length, linesEnd := d.shardBytes(), d.footerAt()
	hash := xxh3.New()
	buffer := make([]byte, min(chunkBytes, linesEnd))
	for at := int64(0); at < linesEnd; {
		chunk := buffer[:min(int64(len(buffer)), linesEnd-at)]
		if _, err := io.ReadFull(file, chunk); err != nil {
			return notRead(path, err)
		}
		_, _ = hash.Write(chunk) // which cannot fail
		if err := to.upload(ctx, client, key, at, length, chunk); err != nil {
			return err
		}
		at += int64(len(chunk))
	}
	// It is the last chunk that makes a shard of the key.
	var last [footerBytes]byte
	if _, err := io.ReadFull(file, last[:]); err != nil {
		return notRead(path, err)
	}
	end, err := readFooter(last[:])
	if err == nil && (end.params != d.params || end.linesChecksum != hash.Sum64()) {
		err = bloomline.ErrChecksum
	}
	if err != nil {
		return wrongFile(path, err)
	}
	return to.upload(ctx, client, key, linesEnd, length, last[:])
}

// notRead is why so many bytes could not be read: the file has become shorter, or the system says why.
func notRead(path string, err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return wrongFile(path, bloomline.ErrTruncated)
	}
	return err
}

func wrongFile(path string, err error) error {
	return &os.PathError{Op: "open", Path: path, Err: err}
}

// footerOf reads the footer of a file, and checks that the file has the length that follows.
func footerOf(path string) (footer, error) {
	info, err := os.Stat(path)
	if err != nil {
		return footer{}, err
	}
	if !info.Mode().IsRegular() {
		return footer{}, wrongFile(path, bloomline.ErrNotAFile)
	}
	if info.Size() < footerBytes {
		return footer{}, wrongFile(path, bloomline.ErrTruncated)
	}
	file, err := os.Open(path)
	if err != nil {
		return footer{}, err
	}
	defer file.Close()
	var last [footerBytes]byte
	if _, err := file.ReadAt(last[:], info.Size()-footerBytes); err != nil {
		return footer{}, notRead(path, err)
	}
	end, err := readFooter(last[:])
	if err == nil && uint64(info.Size()) != (end.params.LineCount+1)*lineBytes {
		err = bloomline.ErrTruncated
	}
	if err != nil {
		return footer{}, wrongFile(path, err)
	}
	return end, nil
}
