package main

// Counters, in the text format of Prometheus.

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"
	"time"
)

// Metrics is what the layers count. Each lookup is counted once in each layer that it reaches:
//
//	lookups                  = absent + cacheHits + cacheMisses + cacheErrors
//	cacheMisses + cacheErrors = databaseReads
//	databaseReads            = databaseFound + falsePositives + databaseErrors
type Metrics struct {
	lookups, absent, falsePositives              atomic.Int64 // Guard
	rebuilds, rebuildFailures                    atomic.Int64
	filterErrors                                 atomic.Int64 // Shared
	cacheHits, cacheMisses, cacheErrors          atomic.Int64 // Cache
	databaseReads, databaseFound, databaseErrors atomic.Int64 // Database
}

// Write writes all metrics, those of the guard's filter included.
func (m *Metrics) Write(w io.Writer, g Guarding) {
	counter := func(name, help string, value *atomic.Int64) {
		fmt.Fprintf(w, "# HELP guard_%s %s\n# TYPE guard_%s counter\nguard_%s %d\n",
			name, help, name, name, value.Load())
	}
	gauge := func(name, help string, value any) {
		fmt.Fprintf(w, "# HELP guard_%s %s\n# TYPE guard_%s gauge\nguard_%s %v\n",
			name, help, name, name, value)
	}
	counter("lookups_total", "Requests for an item.", &m.lookups)
	counter("absent_total", "Lookups that the filter answered: absent.", &m.absent)
	counter("cache_hits_total", "Lookups that the cache answered.", &m.cacheHits)
	counter("cache_misses_total", "Lookups that the cache could not answer.", &m.cacheMisses)
	counter("cache_errors_total", "Lookups in the cache that failed; the database was asked.", &m.cacheErrors)
	counter("database_reads_total", "Lookups in the database.", &m.databaseReads)
	counter("database_found_total", "Lookups in the database that found the item.", &m.databaseFound)
	counter("database_errors_total", "Lookups in the database that failed.", &m.databaseErrors)
	counter("false_positives_total", "Lookups that passed the filter, and the database had no such item. Deleted items count until the next rebuild.", &m.falsePositives)
	counter("rebuilds_total", "Filters built and put to use.", &m.rebuilds)
	counter("rebuild_failures_total", "Rebuilds that failed.", &m.rebuildFailures)
	counter("filter_errors_total", "Requests that a filter in Redis could not answer or take.", &m.filterErrors)
	g.gauges(gauge)
}

func (g *Guard) gauges(tell func(name, help string, value any)) {
	now := g.published.Load()
	tell("rebuild_seconds", "What the last rebuild took.", now.took.Seconds())
	tell("filter_keys", "Ids in the filter.", now.filter.KeyCount())
	tell("filter_bytes", "Size of the filter.", now.filter.Params().Bytes())
	tell("filter_rate", "Estimated false-positive rate of the filter.", now.rate)
	tell("recent_ids", "Ids created since the filter was built.", g.recentLen.Load())
	open := 0
	if g.overflow.Load() != 0 {
		open = 1
	}
	tell("open", "1 while too many ids are recent for the filter to be used.", open)
}

func (s *Shared) gauges(tell func(name, help string, value any)) {
	tell("rebuild_seconds", "What this process' last rebuild took.", time.Duration(s.took.Load()).Seconds())
	ctx, cancel := context.WithTimeout(context.Background(), cachePatience)
	defer cancel()
	if info, err := s.filter.Info(ctx); err == nil { // else they are not known
		tell("filter_keys", "Ids in the filter, estimated.", info.Keys)
		tell("filter_bytes", "Size of the filter.", info.Bytes)
		tell("filter_rate", "Estimated false-positive rate of the filter.", info.EstimatedRate)
	}
}
