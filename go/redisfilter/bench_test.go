package redisfilter

// What the server's main thread takes for a key, and what goes over the network: this package's
// plain strings, and a SETBIT or GETBIT for each bit, as filters are often written by hand.
//
//	go test -run '^$' -bench Server -benchtime 100x

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
)

const benchKeys = 100_000_000 // 124 MB at 1 %

// usage is what the server has used so far.
type usage struct{ cpu, in, out float64 }

func usageOf(b *testing.B, client *redis.Client) (u usage) {
	b.Helper()
	text, err := client.Info(context.Background(), "cpu", "stats").Result()
	if err != nil {
		b.Fatal(err)
	}
	for _, line := range strings.Split(text, "\r\n") {
		name, value, _ := strings.Cut(line, ":")
		number, _ := strconv.ParseFloat(value, 64)
		switch name {
		case "used_cpu_sys_main_thread", "used_cpu_user_main_thread":
			u.cpu += number * 1e9
		case "total_net_input_bytes":
			u.in = number
		case "total_net_output_bytes":
			u.out = number
		}
	}
	return u
}

// BenchmarkServer runs all contenders in turn, in rounds, and reports medians.
func BenchmarkServer(b *testing.B) {
	for _, batch := range []int{1, 100, 1000} {
		var args []string
		if module != "" {
			args = moduleArgs()
		}
		client := connect(b, start(b, args...).addr)
		ctx := b.Context()
		filters := make(map[Store]*Filter)
		for _, store := range allStores {
			if module == "" && store != StoreLines {
				b.Logf("without %q: BLOOMLINE_REDIS_MODULE names no module", store)
				continue
			}
			f, err := Reserve(ctx, client, string(store), benchKeys, 0.01, WithStore(store))
			if err != nil {
				b.Fatal(err)
			}
			filters[store] = f
			// Memory that nothing has been written to is not there yet: the first insert of each page
			// would wait for it.
			for i := range 50 {
				if _, err := f.AddStrings(ctx, texts(fmt.Sprint(i, "-"), 10_000), nil); err != nil {
					b.Fatal(err)
				}
			}
		}
		bits := int64(filters[StoreLines].state.Load().params.LineCount * 8 * lineBytes)
		if err := client.SetBit(ctx, "by hand", bits-1, 0).Err(); err != nil {
			b.Fatal(err)
		}
		random := rand.New(rand.NewPCG(1, 1))
		next := func() []string {
			keys := make([]string, batch)
			for i := range keys {
				keys[i] = fmt.Sprintf("%016x", random.Uint64())
			}
			return keys
		}
		byHand := func(k int, set bool) func() {
			return func() {
				pipe := client.Pipeline()
				for range batch {
					for range k {
						if set {
							pipe.SetBit(ctx, "by hand", random.Int64N(bits), 1)
						} else {
							pipe.GetBit(ctx, "by hand", random.Int64N(bits))
						}
					}
				}
				if _, err := pipe.Exec(ctx); err != nil {
					b.Fatal(err)
				}
			}
		}
		contenders := []struct {
			name string
			run  func()
		}{
			{"6-SETBIT", byHand(6, true)}, {"6-GETBIT", byHand(6, false)},
			{"7-SETBIT", byHand(7, true)}, {"7-GETBIT", byHand(7, false)},
		}
		for _, store := range allStores {
			if f := filters[store]; f != nil {
				contenders = append(contenders, struct {
					name string
					run  func()
				}{string(store) + "-insert", func() {
					if _, err := f.AddStrings(ctx, next(), nil); err != nil {
						b.Fatal(err)
					}
				}}, struct {
					name string
					run  func()
				}{string(store) + "-probe", func() {
					if _, err := f.ContainsStrings(ctx, next(), nil); err != nil {
						b.Fatal(err)
					}
				}})
			}
		}
		results := make([][]usage, len(contenders))
		b.Run(fmt.Sprintf("batch=%d", batch), func(b *testing.B) {
			for range b.N {
				for i, c := range contenders {
					// Enough keys for the clock of INFO.
					calls := max(1, 20_000/batch)
					before := usageOf(b, client)
					for range calls {
						c.run()
					}
					after := usageOf(b, client)
					keys := float64(calls * batch)
					results[i] = append(results[i], usage{
						(after.cpu - before.cpu) / keys, (after.in - before.in) / keys, (after.out - before.out) / keys,
					})
				}
			}
		})
		for i, c := range contenders {
			median := func(of func(u usage) float64) float64 {
				var all []float64
				for _, u := range results[i] {
					all = append(all, of(u))
				}
				slices.Sort(all)
				return all[len(all)/2]
			}
			fmt.Printf("batch=%-5d %-10s %6.0f ns of the server, %5.0f bytes in, %5.0f bytes out, for a key\n", batch, c.name,
				median(func(u usage) float64 { return u.cpu }), median(func(u usage) float64 { return u.in }), median(func(u usage) float64 { return u.out }))
		}
	}
}
