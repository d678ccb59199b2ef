package redisfilter

// Waiting for servers: never longer than the context allows, and with the reason of a failure.

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"
)

// bounded calls do, and returns when it has returned or the context is done. go-redis by itself
// waits for a server as long as its own timeouts say, whatever the context does.
//
// do may go on after that, until its command returns: it must not use what belongs to the caller.
func bounded[T any](ctx context.Context, do func() (T, error)) (T, error) {
	var none T
	if ctx.Done() == nil {
		return do()
	}
	if err := ctx.Err(); err != nil {
		return none, fmt.Errorf("redisfilter: %w", err)
	}
	type result struct {
		value    T
		err      error
		panicked any
	}
	// With room for one, so that do ends if nobody receives.
	done := make(chan result, 1)
	go func() {
		var r result
		defer func() {
			r.panicked = recover() // for the caller, who can catch it
			done <- r
		}()
		r.value, r.err = do()
	}()
	select {
	case r := <-done:
		if r.panicked != nil {
			panic(r.panicked)
		}
		return r.value, withDeadline(ctx, r.err)
	case <-ctx.Done():
		return none, withDeadline(ctx, errNoAnswer)
	}
}

// boundedError is bounded for what returns an error alone.
func boundedError(ctx context.Context, do func() error) error {
	_, err := bounded(ctx, func() (struct{}, error) { return struct{}{}, do() })
	return err
}

var errNoAnswer = errors.New("redisfilter: no answer from the server before the context was done")

// withDeadline adds the context's error to one that may have come of it: a connection of go-redis that
// has the context's deadline reports a timeout of its own.
func withDeadline(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil || errors.Is(err, ctx.Err()) {
		return err
	}
	return fmt.Errorf("%w: %w", err, ctx.Err())
}

// execute sends a pipeline. Each command then has its own error. The error returned is that of the
// whole, such as a password that is wrong: no command has been sent, and all have that error.
func execute(ctx context.Context, pipe redis.Pipeliner) error {
	cmds, err := pipe.Exec(ctx)
	if err == nil {
		return nil
	}
	for _, cmd := range cmds {
		if cmd.Err() != nil {
			return nil
		}
	}
	for _, cmd := range cmds {
		cmd.SetErr(err)
	}
	return err
}
