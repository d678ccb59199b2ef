package main

// What the service keeps: items, and the SQLite database that holds them. The database is the
// truth; the cache and the filter in front of it only save it work.

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	_ "modernc.org/sqlite" // the driver "sqlite", in plain Go
)

// Items is a set of items with an id each. [Database] is one, [Cache] and [Guard] are others
// that stand in front of one: each does what it can by itself and asks the next for the rest.
type Items interface {
	// Get returns the value of an item, or [ErrNotFound].
	Get(ctx context.Context, id string) ([]byte, error)
	// Create makes an item, or returns [ErrExists]. After any other error it is not known
	// whether the item was made.
	Create(ctx context.Context, id string, value []byte) error
	// Delete removes an item, or returns [ErrNotFound].
	Delete(ctx context.Context, id string) error
}

// Any other error means that the answer is not known, which is never to be taken for
// "not found".
var (
	ErrNotFound = errors.New("no such item")
	ErrExists   = errors.New("the item exists already")
)

// The index of the primary key holds nothing but ids, so a scan of them does not read values.
// Ids are compared byte by byte, as the filter does. With a collation that ignores case, say,
// ids would have to be folded before either sees them.
const schema = `CREATE TABLE IF NOT EXISTS items (
	id    TEXT NOT NULL PRIMARY KEY,
	value BLOB NOT NULL
) STRICT`

// Database is [Items] in SQLite.
type Database struct {
	// SQLite has many readers and one writer at a time. Writers that wait for their turn do
	// so in Go, where a context ends the wait, and do not take connections from readers.
	read, write *sql.DB
	metrics     *Metrics
}

// OpenDatabase opens the database in a file, and makes it if it is not there.
func OpenDatabase(ctx context.Context, path string, metrics *Metrics) (*Database, error) {
	// A write-ahead log lets readers, such as the scan of all ids, go on beside a writer. Writers of other programs
	// do not take turns: on a slow disk one of them may wait for many seconds.
	name := path + "?_journal_mode=WAL&_busy_timeout=60000"
	read, err := sql.Open("sqlite", name)
	if err != nil {
		return nil, err
	}
	write, err := sql.Open("sqlite", name)
	if err != nil {
		return nil, err
	}
	read.SetMaxOpenConns(8)
	read.SetMaxIdleConns(8)
	write.SetMaxOpenConns(1)
	d := &Database{read: read, write: write, metrics: metrics}
	if _, err := write.ExecContext(ctx, schema); err != nil {
		d.Close()
		return nil, fmt.Errorf("database %s: %w", path, err)
	}
	return d, nil
}

// Close closes the database.
func (d *Database) Close() error {
	return errors.Join(d.read.Close(), d.write.Close())
}

// Get returns the value of an item.
func (d *Database) Get(ctx context.Context, id string) ([]byte, error) {
	d.metrics.databaseReads.Add(1)
	var value []byte
	err := d.read.QueryRowContext(ctx, `SELECT value FROM items WHERE id = ?`, id).Scan(&value)
	switch {
	case err == nil:
		d.metrics.databaseFound.Add(1)
		return value, nil
	case errors.Is(err, sql.ErrNoRows):
		return nil, ErrNotFound
	default:
		d.metrics.databaseErrors.Add(1)
		return nil, fmt.Errorf("database: %w", err)
	}
}

// Create makes an item. It has been committed when Create returns nil.
func (d *Database) Create(ctx context.Context, id string, value []byte) error {
	const insert = `INSERT INTO items (id, value) VALUES (?, ?) ON CONFLICT DO NOTHING`
	return d.change(ctx, ErrExists, insert, id, value)
}

// Delete removes an item.
func (d *Database) Delete(ctx context.Context, id string) error {
	return d.change(ctx, ErrNotFound, `DELETE FROM items WHERE id = ?`, id)
}

// change runs a statement, and returns unchanged if it changed nothing.
func (d *Database) change(ctx context.Context, unchanged error, statement string, args ...any) error {
	result, err := d.write.ExecContext(ctx, statement, args...)
	if err != nil {
		return fmt.Errorf("database: %w", err)
	}
	if n, err := result.RowsAffected(); err != nil {
		return fmt.Errorf("database: %w", err)
	} else if n == 0 {
		return unchanged
	}
	return nil
}

// Source lists the ids of all items, for [Guard] to build its filter from.
type Source interface {
	// Scan calls begin once, with the number of ids, and then batch until it has passed on
	// all of them. They are of one moment after Scan was called: whatever was committed
	// before the call is among them. If it returns an error, ids may be missing.
	Scan(ctx context.Context, begin func(count int) error, batch func(ids []string)) error
}

// Scan lists all ids, as [Source] has it.
func (d *Database) Scan(ctx context.Context, begin func(count int) error, batch func(ids []string)) error {
	// In one transaction, so that the count and the ids are of the same moment.
	tx, err := d.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return fmt.Errorf("scan: %w", err)
	}
	defer tx.Rollback() // it has only read
	var count int
	if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM items`).Scan(&count); err != nil {
		return fmt.Errorf("scan: %w", err)
	}
	if err := begin(count); err != nil {
		return err
	}
	rows, err := tx.QueryContext(ctx, `SELECT id FROM items`)
	if err != nil {
		return fmt.Errorf("scan: %w", err)
	}
	defer rows.Close()
	ids := make([]string, 0, 1024)
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return fmt.Errorf("scan: %w", err)
		}
		if ids = append(ids, id); len(ids) == cap(ids) {
			batch(ids)
			ids = ids[:0]
		}
	}
	batch(ids)
	// Next also ends when something fails. A filter of half the ids would refuse the others.
	if err := rows.Err(); err != nil {
		return fmt.Errorf("scan: %w", err)
	}
	return nil
}
