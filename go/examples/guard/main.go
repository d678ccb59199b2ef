// Command guard is an example of a service that keeps requests for missing ids away from its
// cache and its database: HTTP in front of a Bloom filter, in front of Redis, in front of
// SQLite. How the filter follows creations and deletions while requests go on is in guard.go.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
)

// config is what the flags set.
type config struct {
	addr, db, redis, shared string
	rate                    float64
	rebuild                 time.Duration
}

func main() {
	var cfg config
	flag.StringVar(&cfg.addr, "addr", "127.0.0.1:8080", "`address` to serve on")
	flag.StringVar(&cfg.db, "db", "items.sqlite", "SQLite `file`, made if it is not there")
	flag.StringVar(&cfg.redis, "redis", "127.0.0.1:6379", "`address` of Redis; it need not be up")
	flag.StringVar(&cfg.shared, "shared", "", "`name` of a filter in Redis, for several processes; then Redis must be up")
	flag.Float64Var(&cfg.rate, "rate", 0.01, "false-positive `rate` of the filter")
	flag.DurationVar(&cfg.rebuild, "rebuild", 10*time.Minute, "`interval` of rebuilds")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := listenAndRun(ctx, cfg); err != nil {
		slog.Error("guard", "error", err)
		os.Exit(1)
	}
}

func listenAndRun(ctx context.Context, cfg config) error {
	listener, err := net.Listen("tcp", cfg.addr)
	if err != nil {
		return err
	}
	return run(ctx, cfg, listener)
}

// run serves until ctx ends, and returns when everything it started has ended. It closes
// listener.
func run(ctx context.Context, cfg config, listener net.Listener) error {
	defer listener.Close()
	if cfg.rebuild <= 0 {
		return fmt.Errorf("the interval of rebuilds is %v, and has to be positive", cfg.rebuild)
	}
	metrics := new(Metrics)
	database, err := OpenDatabase(ctx, cfg.db, metrics)
	if err != nil {
		return err
	}
	defer database.Close()
	client := OpenRedis(cfg.redis, cachePatience)
	defer client.Close()
	cache := NewCache(database, client, metrics)
	guard, runGuard, err := newGuarding(ctx, cfg, cache, database, client, metrics)
	if err != nil {
		return err
	}

	// The defers run in reverse: what uses something ends before it.
	background, stop := context.WithCancel(context.Background())
	var tasks sync.WaitGroup
	defer tasks.Wait()
	defer stop()
	tasks.Go(func() { runGuard(background, cfg.rebuild) })

	server := &http.Server{Handler: NewServer(guard, metrics), ReadHeaderTimeout: 5 * time.Second}
	served := make(chan error, 1)
	tasks.Go(func() { served <- server.Serve(listener) })
	slog.Info("serving", "address", listener.Addr())
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	patience, cancel := context.WithTimeout(background, 10*time.Second)
	defer cancel()
	if err := server.Shutdown(patience); err != nil {
		// Requests that take too long lose their connection, and with it their context.
		return errors.Join(err, server.Close())
	}
	return nil
}

// newGuarding returns a guard with its filter in this process, or in Redis, and its Run.
func newGuarding(ctx context.Context, cfg config, cache *Cache, database *Database, client *redis.Client, metrics *Metrics) (Guarding, func(context.Context, time.Duration), error) {
	if cfg.shared == "" {
		guard, err := NewGuard(ctx, cache, database, cfg.rate, metrics)
		if err != nil {
			return nil, nil, err
		}
		slog.Info("filter in memory", "ids", guard.published.Load().filter.KeyCount())
		return guard, guard.Run, nil
	}
	patient := OpenRedis(cfg.redis, time.Minute)
	shared, err := NewShared(ctx, cache, database, client, patient, cfg.shared, cfg.rate, metrics)
	if err != nil {
		patient.Close()
		return nil, nil, err
	}
	slog.Info("filter in Redis", "name", cfg.shared)
	return shared, func(ctx context.Context, interval time.Duration) {
		defer patient.Close()
		shared.Run(ctx, interval)
	}, nil
}
