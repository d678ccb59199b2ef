package redisfilter

// Servers of the tests' own: on free ports of the loopback interface, without persistence, and
// gone when the test is, however that ends.

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// module is the path of Bloomline's module, if the tests are to use it.
var module = os.Getenv("BLOOMLINE_REDIS_MODULE")

// needModule ends a test that needs the module where there is none.
func needModule(t testing.TB) {
	t.Helper()
	if module != "" {
		return
	}
	const missing = "BLOOMLINE_REDIS_MODULE names no module (make redis builds it)"
	if os.Getenv("BLOOMLINE_REDIS_REQUIRE") != "" {
		t.Fatal(missing)
	}
	t.Skip("SKIPPED: " + missing)
}

// server is a running redis-server.
type server struct {
	addr string
	port int
	stop func() // kills it, waits until it is gone, and may be called again
}

// start starts a server on a free port and stops it when the test ends.
func start(t testing.TB, args ...string) *server {
	t.Helper()
	// Between the choice of a port and its use another process may take it.
	var err error
	for range 3 {
		var s *server
		if s, err = startAt(t, freePort(t), args...); err == nil {
			return s
		}
	}
	t.Fatal(err)
	return nil
}

func startAt(t testing.TB, port int, args ...string) (*server, error) {
	t.Helper()
	path := os.Getenv("BLOOMLINE_REDIS_SERVER")
	if path == "" {
		path = "redis-server"
	}
	path, err := exec.LookPath(path)
	if err != nil {
		t.Fatalf("there is no redis-server, which this test needs (Debian: apt-get install redis-server): %v", err)
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
	all := append([]string{"-c", `"$@" & read -r _; kill -9 $!; wait $!`, "sh",
		path, "--bind", "127.0.0.1", "--port", strconv.Itoa(port), "--save", "", "--appendonly", "no",
		"--dir", dir, "--repl-diskless-sync-delay", "0"}, args...)
	cmd := exec.Command("sh", all...)
	cmd.Stdout, cmd.Stderr = log, log
	pipe, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := &server{addr: "127.0.0.1:" + strconv.Itoa(port), port: port}
	s.stop = func() {
		pipe.Close()
		_ = cmd.Wait() // an error: the server was killed
	}
	t.Cleanup(s.stop)

	// It is up, and it is this one, once it tells its directory.
	client := connect(t, s.addr)
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

// freePort returns a port on which nothing listens, nor on that of its cluster bus.
func freePort(t testing.TB) int {
	t.Helper()
	for range 100 {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		port := listener.Addr().(*net.TCPAddr).Port
		listener.Close()
		if port+10000 > 65535 {
			continue
		}
		if bus, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port+10000)); err == nil {
			bus.Close()
			return port
		}
	}
	t.Fatal("no free port")
	return 0
}

var quiet = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}

// connect returns a client of one server.
func connect(t testing.TB, addr string) *redis.Client {
	t.Helper()
	client := redis.NewClient(&redis.Options{
		Addr: addr, MaxRetries: -1, DialerRetries: 1, DialTimeout: time.Second,
		ReadTimeout: 20 * time.Second, WriteTimeout: 20 * time.Second, MaintNotificationsConfig: quiet,
	})
	t.Cleanup(func() { client.Close() })
	return client
}

// noHook is what a redis.Hook leaves as it is, unless it has methods of its own.
type noHook struct{}

func (noHook) DialHook(next redis.DialHook) redis.DialHook          { return next }
func (noHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }

// cluster is a running cluster of three nodes.
type cluster struct {
	nodes []*server
}

// startCluster starts three masters, each with a third of the slots.
func startCluster(t testing.TB, args ...string) *cluster {
	t.Helper()
	c := new(cluster)
	args = append([]string{"--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf",
		"--cluster-node-timeout", "2000"}, args...)
	for range 3 {
		c.nodes = append(c.nodes, start(t, args...))
	}
	ctx := t.Context()
	for i, node := range c.nodes {
		client := connect(t, node.addr)
		first, last := i*16384/3, (i+1)*16384/3-1
		if err := client.ClusterAddSlotsRange(ctx, first, last).Err(); err != nil {
			t.Fatal(err)
		}
		if err := client.Do(ctx, "cluster", "set-config-epoch", i+1).Err(); err != nil {
			t.Fatal(err)
		}
	}
	first := connect(t, c.nodes[0].addr)
	eventually(t, "nodes that know each other", func() bool {
		known, err := first.ClusterNodes(ctx).Result()
		for _, node := range c.nodes[1:] {
			meet(t, known, first, node)
		}
		return err == nil && strings.Count(known, "connected") == len(c.nodes) && !strings.Contains(known, "handshake")
	})
	for _, node := range c.nodes {
		client := connect(t, node.addr)
		eventually(t, "the cluster on "+node.addr, func() bool {
			info, err := client.ClusterInfo(ctx).Result()
			// Without full coverage, the state is ok before a node knows who has the slots.
			all := strings.Contains(info, "cluster_slots_ok:16384") && strings.Contains(info, "cluster_known_nodes:3")
			return err == nil && all && strings.Contains(info, "cluster_state:ok")
		})
	}
	c.setTimeout(t, 15*time.Second)
	return c
}

// meet greets a node that is not among those known. It is called again and again: a greeting that
// takes too long is forgotten.
func meet(t testing.TB, known string, client *redis.Client, node *server) {
	t.Helper()
	if strings.Contains(known, node.addr+"@") {
		return
	}
	if err := client.ClusterMeet(t.Context(), "127.0.0.1", strconv.Itoa(node.port)).Err(); err != nil {
		t.Fatal(err)
	}
}

// setTimeout says for how long a node is not taken for dead that does not answer. It is longer than a
// busy machine lets a process wait, unless a test waits for a failover; nodes join faster with less.
func (c *cluster) setTimeout(t testing.TB, timeout time.Duration) {
	t.Helper()
	for _, node := range c.nodes {
		err := connect(t, node.addr).ConfigSet(t.Context(), "cluster-node-timeout", fmt.Sprint(timeout.Milliseconds())).Err()
		if err != nil {
			t.Fatal(err)
		}
	}
}

// addReplicas gives each master a replica.
func (c *cluster) addReplicas(t testing.TB, args ...string) {
	t.Helper()
	args = append([]string{"--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf",
		"--cluster-node-timeout", "2000"}, args...)
	ctx := t.Context()
	masters := len(c.nodes)
	for i := range masters {
		node := start(t, args...)
		c.nodes = append(c.nodes, node)
		client := connect(t, node.addr)
		id, err := connect(t, c.nodes[i].addr).ClusterMyID(ctx).Result()
		if err != nil {
			t.Fatal(err)
		}
		eventually(t, "a replica that knows its master", func() bool {
			known, _ := client.ClusterNodes(ctx).Result()
			meet(t, known, client, c.nodes[i])
			return client.ClusterReplicate(ctx, id).Err() == nil
		})
	}
	for _, node := range c.nodes {
		client := connect(t, node.addr)
		eventually(t, "replicas on "+node.addr, func() bool {
			info, err := client.Info(ctx, "replication").Result()
			linked := strings.Contains(info, "connected_slaves:1") || strings.Contains(info, "master_link_status:up")
			nodes, _ := client.ClusterNodes(ctx).Result()
			return err == nil && linked && strings.Count(nodes, "slave") == masters
		})
	}
}

// connect returns a client of the cluster.
func (c *cluster) connect(t testing.TB) *redis.ClusterClient {
	t.Helper()
	var addrs []string
	for _, node := range c.nodes {
		addrs = append(addrs, node.addr)
	}
	client := redis.NewClusterClient(&redis.ClusterOptions{
		Addrs: addrs, DialerRetries: 1, DialTimeout: time.Second,
		ReadTimeout: 20 * time.Second, WriteTimeout: 20 * time.Second, MaintNotificationsConfig: quiet,
	})
	t.Cleanup(func() { client.Close() })
	return client
}

// eventually waits until something is so.
func eventually(t testing.TB, what string, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !so(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within 30 seconds: %s", what)
		}
	}
}

// moduleArgs loads the module.
func moduleArgs() []string { return []string{"--loadmodule", module} }
