-- Times are microseconds since 1970 (UTC), money is whole minor units, JSON is canonical text (RFC 8785).
-- The same tables, columns and keys as migrations/postgres, under the same numbers.

CREATE TABLE meta (
    name  TEXT PRIMARY KEY NOT NULL,
    value TEXT NOT NULL
) STRICT;

-- A kind's identity fields, fixed in number and order at first use.
CREATE TABLE kinds (
    kind     TEXT PRIMARY KEY NOT NULL,
    identity TEXT NOT NULL,
    fixed_at INTEGER NOT NULL
) STRICT;

CREATE TABLE people (
    id            TEXT PRIMARY KEY NOT NULL,
    name          TEXT NOT NULL UNIQUE,
    role          TEXT NOT NULL,
    password_hash TEXT NOT NULL,
    created_at    INTEGER NOT NULL
) STRICT;

CREATE TABLE tokens (
    name        TEXT PRIMARY KEY NOT NULL,
    owner       TEXT NOT NULL REFERENCES people (id),
    secret_hash TEXT NOT NULL UNIQUE,
    scopes      TEXT NOT NULL,
    created_at  INTEGER NOT NULL
) STRICT;

-- What was captured belongs to the payment, which orders may share. Its row is what reservations lock.
CREATE TABLE payments (
    account    TEXT NOT NULL,
    payment    TEXT NOT NULL,
    currency   TEXT NOT NULL,
    captured   INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (account, payment)
) STRICT;

CREATE TABLE orders (
    id         TEXT PRIMARY KEY NOT NULL,
    account    TEXT NOT NULL,
    payment    TEXT NOT NULL,
    currency   TEXT NOT NULL,
    customer   TEXT,
    lines      TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    FOREIGN KEY (account, payment) REFERENCES payments (account, payment)
) STRICT;
CREATE INDEX orders_by_payment ON orders (account, payment);

-- The head of each operation. What it says can be told again from its entries; `due_at`, `reason`, `lease_*`, `look_up_asked_at`
-- and `set_aside` are who does what next, and a crash may lose them.
CREATE TABLE operations (
    ordinal          INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    id               TEXT NOT NULL UNIQUE,
    base_id          TEXT NOT NULL,
    kind             TEXT NOT NULL,
    revision         INTEGER NOT NULL,
    order_id         TEXT NOT NULL,
    account          TEXT NOT NULL,
    target           TEXT NOT NULL,
    amount           INTEGER NOT NULL,
    currency         TEXT NOT NULL,
    marker           TEXT NOT NULL UNIQUE,
    intent           TEXT NOT NULL,
    intent_hash      TEXT NOT NULL,
    facts            TEXT NOT NULL,
    state            TEXT NOT NULL,
    version          INTEGER NOT NULL,
    seq              INTEGER NOT NULL,
    head             TEXT NOT NULL,
    holds            INTEGER NOT NULL,
    external_id      TEXT,
    incidents        INTEGER NOT NULL,
    state_since      INTEGER NOT NULL,
    window_closes_at INTEGER,
    created_at       INTEGER NOT NULL,
    updated_at       INTEGER NOT NULL,
    due_at           INTEGER,
    reason           TEXT NOT NULL,
    lease_token      TEXT,
    lease_until      INTEGER,
    look_up_asked_at INTEGER,
    set_aside        TEXT
) STRICT;
CREATE INDEX operations_by_base ON operations (base_id);
CREATE INDEX operations_by_payment ON operations (account, target);
CREATE INDEX operations_by_order ON operations (order_id, ordinal);
CREATE INDEX operations_by_state ON operations (state, ordinal);
CREATE INDEX operations_by_external_id ON operations (external_id) WHERE external_id IS NOT NULL;
CREATE INDEX operations_by_change ON operations (updated_at);
CREATE INDEX operations_due ON operations (account, due_at) WHERE due_at IS NOT NULL AND set_aside IS NULL;

-- Timeline, attempts, evidence and acts of one operation: one chain.
CREATE TABLE entries (
    operation_id TEXT NOT NULL REFERENCES operations (id),
    seq          INTEGER NOT NULL,
    type         TEXT NOT NULL,
    at           INTEGER NOT NULL,
    actor        TEXT NOT NULL,
    body         TEXT NOT NULL,
    hash         TEXT NOT NULL,
    PRIMARY KEY (operation_id, seq)
) STRICT, WITHOUT ROWID;

-- One chain over the whole ledger: what exists at all, and under which rules.
CREATE TABLE chain (
    seq   INTEGER PRIMARY KEY NOT NULL,
    type  TEXT NOT NULL,
    at    INTEGER NOT NULL,
    actor TEXT NOT NULL,
    body  TEXT NOT NULL,
    hash  TEXT NOT NULL
) STRICT;

-- Whether a restore from a backup is in force is asked before every decision.
CREATE INDEX chain_by_type ON chain (type, seq);

-- Where the ledger-wide chain ends: without it, acts cut off at the end would leave no trace.
CREATE TABLE chain_head (
    one  INTEGER PRIMARY KEY NOT NULL CHECK (one = 1),
    seq  INTEGER NOT NULL,
    head TEXT NOT NULL
) STRICT;

-- Raw answers, by the digest that stands in the chain: retention may drop them, and the proof stands.
CREATE TABLE bodies (
    digest   TEXT PRIMARY KEY NOT NULL,
    bytes    BLOB NOT NULL,
    saved_at INTEGER NOT NULL
) STRICT;

-- Every effect seen on a payment, ours or not: what money is out.
CREATE TABLE effects (
    account       TEXT NOT NULL,
    external_id   TEXT NOT NULL,
    target        TEXT NOT NULL,
    operation_id  TEXT REFERENCES operations (id),
    marker        TEXT,
    amount        INTEGER NOT NULL,
    currency      TEXT NOT NULL,
    status        TEXT NOT NULL,
    provider_status TEXT NOT NULL,
    created_at    INTEGER,
    first_seen_at INTEGER NOT NULL,
    last_seen_at  INTEGER NOT NULL,
    PRIMARY KEY (account, external_id)
) STRICT;
CREATE INDEX effects_by_payment ON effects (account, target);

-- Whether an account's writes are paused, and when one canary may try.
CREATE TABLE pauses (
    account       TEXT PRIMARY KEY NOT NULL,
    paused_at     INTEGER NOT NULL,
    canary_at     INTEGER NOT NULL,
    canary_gap_s  INTEGER NOT NULL,
    secret_digest TEXT NOT NULL
) STRICT;

-- One open alarm per account and kind.
CREATE TABLE alarms (
    id         TEXT PRIMARY KEY NOT NULL,
    account    TEXT NOT NULL,
    kind       TEXT NOT NULL,
    detail     TEXT NOT NULL,
    raised_at  INTEGER NOT NULL,
    cleared_at INTEGER
) STRICT;
CREATE UNIQUE INDEX alarms_open ON alarms (account, kind) WHERE cleared_at IS NULL;

-- When each job of the daemon last ran.
CREATE TABLE runs (
    job         TEXT PRIMARY KEY NOT NULL,
    started_at  INTEGER NOT NULL,
    finished_at INTEGER,
    found       INTEGER NOT NULL
) STRICT;

-- Append-only. An INSERT OR REPLACE removes without asking the triggers for DELETE, so it is refused too.
CREATE TRIGGER entries_no_update BEFORE UPDATE ON entries BEGIN SELECT RAISE(ABORT, 'entries are append-only'); END;
CREATE TRIGGER entries_no_delete BEFORE DELETE ON entries BEGIN SELECT RAISE(ABORT, 'entries are append-only'); END;
CREATE TRIGGER chain_no_update BEFORE UPDATE ON chain BEGIN SELECT RAISE(ABORT, 'chain is append-only'); END;
CREATE TRIGGER chain_no_delete BEFORE DELETE ON chain BEGIN SELECT RAISE(ABORT, 'chain is append-only'); END;
CREATE TRIGGER bodies_no_update BEFORE UPDATE ON bodies BEGIN SELECT RAISE(ABORT, 'bodies are append-only'); END;
CREATE TRIGGER operations_no_delete BEFORE DELETE ON operations BEGIN SELECT RAISE(ABORT, 'operations are never removed'); END;
CREATE TRIGGER operations_fixed BEFORE UPDATE OF id, base_id, kind, revision, order_id, account, target, amount, currency, marker, intent, intent_hash, created_at
    ON operations BEGIN SELECT RAISE(ABORT, 'what an operation is never changes'); END;
CREATE TRIGGER entries_no_replace BEFORE INSERT ON entries WHEN EXISTS (SELECT 1 FROM entries WHERE operation_id = NEW.operation_id AND seq = NEW.seq)
    BEGIN SELECT RAISE(ABORT, 'entries are append-only'); END;
CREATE TRIGGER chain_no_replace BEFORE INSERT ON chain WHEN EXISTS (SELECT 1 FROM chain WHERE seq = NEW.seq)
    BEGIN SELECT RAISE(ABORT, 'chain is append-only'); END;
CREATE TRIGGER operations_no_replace BEFORE INSERT ON operations WHEN EXISTS (SELECT 1 FROM operations WHERE id = NEW.id OR marker = NEW.marker OR ordinal = NEW.ordinal)
    BEGIN SELECT RAISE(ABORT, 'operations are never removed'); END;
