package redisfilter

// How the stores take and give the bytes of a file.

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"
)

// upload writes chunks where they belong. The first one comes after zeros for the whole, so that
// Redis takes memory once.
func (s linesStore) upload(ctx context.Context, client redis.UniversalClient, key string, at, length int64, chunk []byte) error {
	if at == 0 {
		if err := client.SetRange(ctx, key, length-1, "\x00").Err(); err != nil {
			return err
		}
	}
	return client.Do(ctx, "setrange", key, at, chunk).Err()
}

func (s linesStore) download(ctx context.Context, client redis.UniversalClient, key string, take func(chunk []byte) error) ([]byte, error) {
	linesEnd := s.d.footerAt()
	for at := int64(0); at < linesEnd; at += chunkBytes {
		end := min(at+chunkBytes, linesEnd)
		chunk, err := client.GetRange(ctx, key, at, end-1).Bytes()
		if err == nil && int64(len(chunk)) != end-at {
			err = ErrShardLost
		}
		if err == nil {
			err = take(chunk)
		}
		if err != nil {
			return nil, err
		}
	}
	// Last: if it is there, so were the lines.
	last, err := client.GetRange(ctx, key, linesEnd, linesEnd+footerBytes-1).Bytes()
	if err == nil && !isFooterOf(string(last), s.d.params) {
		err = ErrShardLost
	}
	return last, err
}

// upload takes a chunk that has arrived already for sent: see isRepeated.
func (moduleStore) upload(ctx context.Context, client redis.UniversalClient, key string, at, length int64, chunk []byte) error {
	err := client.Do(ctx, "bl.import", key, at, length, chunk).Err()
	end := at + int64(len(chunk))
	var said redis.Error
	arrived := errors.As(err, &said) && said.Error() == fmt.Sprintf("ERR the next chunk begins at offset %d of %d", end, length)
	if arrived || isRepeated(err) && end == length {
		return nil
	}
	return unknownCommand(err)
}

// download keeps the last 64 bytes back: the footer.
func (moduleStore) download(ctx context.Context, client redis.UniversalClient, key string, take func(chunk []byte) error) ([]byte, error) {
	var kept []byte
	for at := int64(0); ; {
		reply, err := client.Do(ctx, "bl.export", key, at, "count", chunkBytes).Slice()
		if err != nil {
			return nil, lostIf(err)
		}
		if len(reply) != 3 {
			return nil, fmt.Errorf("%w: bl.export: %d elements", errReply, len(reply))
		}
		next, ok := reply[0].(int64)
		bytes, isText := reply[2].(string)
		if !ok || !isText || next != 0 && next <= at {
			return nil, fmt.Errorf("%w: bl.export", errReply)
		}
		kept = append(kept, bytes...)
		if ready := len(kept) - footerBytes; ready > 0 {
			if err := take(kept[:ready]); err != nil {
				return nil, err
			}
			kept = append([]byte(nil), kept[ready:]...)
		}
		if next == 0 {
			return kept, nil
		}
		at = next
	}
}
