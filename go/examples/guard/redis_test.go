package main

// A redis-server of the test's own: on a free port of the loopback interface, without
// persistence, and gone when the test is, however that ends.

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// redisServer is a running redis-server.
type redisServer struct {
	addr string
	stop func() // kills it, waits until it is gone, and may be called again
}

// startRedis starts a server on a free port and stops it when the test ends.
func startRedis(t *testing.T) *redisServer {
	t.Helper()
	// Between the choice of a port and its use another process may take it.
	var err error
	for range 3 {
		var s *redisServer
		if s, err = startRedisAt(t, freePort(t)); err == nil {
			return s
		}
	}
	t.Fatal(err)
	return nil
}

func startRedisAt(t *testing.T, port string) (*redisServer, error) {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		const missing = "there is no redis-server, which this test needs (Debian: apt-get install redis-server)"
		if os.Getenv("GUARD_SKIP_REDIS") == "1" {
			t.Skip("SKIPPED, as GUARD_SKIP_REDIS=1 allows: " + missing)
		}
		t.Fatal(missing + "; GUARD_SKIP_REDIS=1 leaves out the tests that need it")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	logPath := filepath.Join(dir, "log")
	log, err := os.Create(logPath)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()

	// The shell kills the server when its input ends. The other end of that pipe closes when
	// this process ends, even if it is killed and no cleanup runs.
	cmd := exec.Command("sh", "-c", `"$@" & read -r _; kill -9 $!; wait $!`, "sh",
		path, "--bind", "127.0.0.1", "--port", port, "--save", "", "--appendonly", "no", "--dir", dir)
	cmd.Stdout, cmd.Stderr = log, log
	pipe, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := &redisServer{addr: "127.0.0.1:" + port}
	s.stop = func() {
		pipe.Close()
		cmd.Wait() // an error: the server was killed
	}
	t.Cleanup(func() {
		s.stop()
		if conn, err := net.Dial("tcp", s.addr); err == nil {
			conn.Close()
			t.Errorf("something still serves on %s", s.addr)
		}
	})

	// It is up, and it is this one, once it tells its directory.
	client := redis.NewClient(&redis.Options{Addr: s.addr, MaxRetries: -1, DialerRetries: 1})
	defer client.Close()
	for deadline := time.Now().Add(60 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		config, err := client.ConfigGet(context.Background(), "dir").Result()
		if err == nil && config["dir"] == dir {
			return s, nil
		}
		if time.Now().After(deadline) {
			s.stop()
			said, _ := os.ReadFile(logPath)
			return nil, fmt.Errorf("redis-server does not answer on %s: %v; it said:\n%s", s.addr, err, said)
		}
	}
}

// freePort returns a port on which nothing listens.
func freePort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}
