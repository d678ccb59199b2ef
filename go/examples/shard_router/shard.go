package main

// One of the databases that a key may be in: SQLite here, and in a service whatever takes a request to ask.

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"

	_ "modernc.org/sqlite" // the driver "sqlite", in plain Go
)

// Keys are compared byte by byte, as filters do.
const schema = `CREATE TABLE IF NOT EXISTS items (
	key   TEXT NOT NULL PRIMARY KEY,
	value TEXT NOT NULL
) STRICT`

// Shard is a database of items.
type Shard struct {
	db  *sql.DB
	get *sql.Stmt
	// Held by whoever changes the shard or scans its keys, one at a time, as SQLite has it anyway. Who reads
	// an item does not wait for it.
	changing sync.Mutex
}

// OpenShard opens the database in a file, and makes it if it is not there.
func OpenShard(ctx context.Context, path string) (*Shard, error) {
	// A write-ahead log lets readers go on beside a writer.
	db, err := sql.Open("sqlite", path+"?_journal_mode=WAL&_busy_timeout=5000")
	if err != nil {
		return nil, err
	}
	s := &Shard{db: db}
	if _, err = db.ExecContext(ctx, schema); err == nil {
		s.get, err = db.PrepareContext(ctx, "SELECT value FROM items WHERE key = ?")
	}
	if err != nil {
		s.Close()
		return nil, fmt.Errorf("database %s: %w", path, err)
	}
	return s, nil
}

// Close closes the database.
func (s *Shard) Close() error { return s.db.Close() }

// Get returns the value of a key, and whether it is there.
func (s *Shard) Get(ctx context.Context, key string) (value string, found bool, err error) {
	err = s.get.QueryRowContext(ctx, key).Scan(&value)
	if errors.Is(err, sql.ErrNoRows) {
		return "", false, nil
	}
	return value, err == nil, err
}

// change commits what do does, or nothing.
func (s *Shard) change(ctx context.Context, do func(tx *sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// keys calls each with all keys, of one moment.
func (s *Shard) keys(ctx context.Context, each func(key string)) error {
	rows, err := s.db.QueryContext(ctx, "SELECT key FROM items")
	if err != nil {
		return err
	}
	defer rows.Close()
	var key string
	for rows.Next() {
		if err := rows.Scan(&key); err != nil {
			return err
		}
		each(key)
	}
	return rows.Err()
}
