package main

// Items in memory, with which a test can act at the very moment that matters.

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
)

// memory is Items and Source in memory. The hooks that are set run once.
type memory struct {
	mu     sync.Mutex
	values map[string][]byte

	beforeCommit, afterCommit func()       // in Create
	createError               error        // returned by Create after it has committed
	duringScan                func() error // in Scan, after the moment that it shows
}

func (m *memory) Get(_ context.Context, id string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if value, ok := m.values[id]; ok {
		return value, nil
	}
	return nil, ErrNotFound
}

func (m *memory) Create(_ context.Context, id string, value []byte) error {
	once(&m.beforeCommit)
	m.mu.Lock()
	m.values[id] = value
	m.mu.Unlock()
	once(&m.afterCommit)
	return m.createError
}

func (m *memory) Delete(_ context.Context, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.values, id)
	return nil
}

func (m *memory) Scan(_ context.Context, begin func(int) error, batch func([]string)) error {
	m.mu.Lock()
	ids := slices.Collect(maps.Keys(m.values))
	m.mu.Unlock()
	if err := begin(len(ids)); err != nil {
		return err
	}
	if hook := m.duringScan; hook != nil {
		m.duringScan = nil
		if err := hook(); err != nil {
			return err
		}
	}
	batch(ids)
	return nil
}

func once(hook *func()) {
	if run := *hook; run != nil {
		*hook = nil
		run()
	}
}

func newMemoryGuard(t *testing.T) (*memory, *Guard) {
	t.Helper()
	m := &memory{values: make(map[string][]byte)}
	for i := range 1000 {
		m.values[fmt.Sprint("old-", i)] = nil
	}
	g, err := NewGuard(t.Context(), m, m, 0.01, new(Metrics))
	if err != nil {
		t.Fatal(err)
	}
	return m, g
}
