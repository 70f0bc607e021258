-- Times are microseconds since 1970 (UTC), money is whole minor units, JSON is canonical text (RFC 8785).
-- The same tables, columns and keys as migrations/sqlite, under the same numbers. Text is compared byte for byte, as there.

CREATE TABLE meta (
    name  TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    value TEXT COLLATE "C" NOT NULL
);

-- A kind's identity fields, fixed in number and order at first use.
CREATE TABLE kinds (
    kind     TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    identity TEXT COLLATE "C" NOT NULL,
    fixed_at BIGINT NOT NULL
);

CREATE TABLE people (
    id            TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    name          TEXT COLLATE "C" NOT NULL UNIQUE,
    role          TEXT COLLATE "C" NOT NULL,
    password_hash TEXT COLLATE "C" NOT NULL,
    created_at    BIGINT NOT NULL
);

CREATE TABLE tokens (
    name        TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    owner       TEXT COLLATE "C" NOT NULL REFERENCES people (id),
    secret_hash TEXT COLLATE "C" NOT NULL UNIQUE,
    scopes      TEXT COLLATE "C" NOT NULL,
    created_at  BIGINT NOT NULL
);

-- What was captured belongs to the payment, which orders may share. Its row is what reservations lock.
CREATE TABLE payments (
    account    TEXT COLLATE "C" NOT NULL,
    payment    TEXT COLLATE "C" NOT NULL,
    currency   TEXT COLLATE "C" NOT NULL,
    captured   BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (account, payment)
);

CREATE TABLE orders (
    id         TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    account    TEXT COLLATE "C" NOT NULL,
    payment    TEXT COLLATE "C" NOT NULL,
    currency   TEXT COLLATE "C" NOT NULL,
    customer   TEXT COLLATE "C",
    lines      TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    FOREIGN KEY (account, payment) REFERENCES payments (account, payment)
);
CREATE INDEX orders_by_payment ON orders (account, payment);

-- The head of each operation. What it says can be told again from its entries; `due_at`, `reason`, `lease_*`, `look_up_asked_at`
-- and `set_aside` are who does what next, and a crash may lose them.
CREATE TABLE operations (
    ordinal          BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id               TEXT COLLATE "C" NOT NULL UNIQUE,
    base_id          TEXT COLLATE "C" NOT NULL,
    kind             TEXT COLLATE "C" NOT NULL,
    revision         BIGINT NOT NULL,
    order_id         TEXT COLLATE "C" NOT NULL,
    account          TEXT COLLATE "C" NOT NULL,
    target           TEXT COLLATE "C" NOT NULL,
    amount           BIGINT NOT NULL,
    currency         TEXT COLLATE "C" NOT NULL,
    marker           TEXT COLLATE "C" NOT NULL UNIQUE,
    intent           TEXT COLLATE "C" NOT NULL,
    intent_hash      TEXT COLLATE "C" NOT NULL,
    facts            TEXT COLLATE "C" NOT NULL,
    state            TEXT COLLATE "C" NOT NULL,
    version          BIGINT NOT NULL,
    seq              BIGINT NOT NULL,
    head             TEXT COLLATE "C" NOT NULL,
    holds            BIGINT NOT NULL,
    external_id      TEXT COLLATE "C",
    incidents        BIGINT NOT NULL,
    state_since      BIGINT NOT NULL,
    window_closes_at BIGINT,
    created_at       BIGINT NOT NULL,
    updated_at       BIGINT NOT NULL,
    due_at           BIGINT,
    reason           TEXT COLLATE "C" NOT NULL,
    lease_token      TEXT COLLATE "C",
    lease_until      BIGINT,
    look_up_asked_at BIGINT,
    set_aside        TEXT COLLATE "C"
);
CREATE INDEX operations_by_base ON operations (base_id);
CREATE INDEX operations_by_payment ON operations (account, target);
CREATE INDEX operations_by_order ON operations (order_id, ordinal);
CREATE INDEX operations_by_state ON operations (state, ordinal);
CREATE INDEX operations_by_external_id ON operations (external_id) WHERE external_id IS NOT NULL;
CREATE INDEX operations_by_change ON operations (updated_at);
CREATE INDEX operations_due ON operations (account, due_at) WHERE due_at IS NOT NULL AND set_aside IS NULL;

-- Timeline, attempts, evidence and acts of one operation: one chain.
CREATE TABLE entries (
    operation_id TEXT COLLATE "C" NOT NULL REFERENCES operations (id),
    seq          BIGINT NOT NULL,
    type         TEXT COLLATE "C" NOT NULL,
    at           BIGINT NOT NULL,
    actor        TEXT COLLATE "C" NOT NULL,
    body         TEXT COLLATE "C" NOT NULL,
    hash         TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (operation_id, seq)
);

-- One chain over the whole ledger: what exists at all, and under which rules.
CREATE TABLE chain (
    seq   BIGINT PRIMARY KEY NOT NULL,
    type  TEXT COLLATE "C" NOT NULL,
    at    BIGINT NOT NULL,
    actor TEXT COLLATE "C" NOT NULL,
    body  TEXT COLLATE "C" NOT NULL,
    hash  TEXT COLLATE "C" NOT NULL
);

-- Whether a restore from a backup is in force is asked before every decision.
CREATE INDEX chain_by_type ON chain (type, seq);

-- Where the ledger-wide chain ends: without it, acts cut off at the end would leave no trace.
CREATE TABLE chain_head (
    one  BIGINT PRIMARY KEY NOT NULL CHECK (one = 1),
    seq  BIGINT NOT NULL,
    head TEXT COLLATE "C" NOT NULL
);

-- Raw answers, by the digest that stands in the chain: retention may drop them, and the proof stands.
CREATE TABLE bodies (
    digest   TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    bytes    BYTEA NOT NULL,
    saved_at BIGINT NOT NULL
);

-- Every effect seen on a payment, ours or not: what money is out.
CREATE TABLE effects (
    account       TEXT COLLATE "C" NOT NULL,
    external_id   TEXT COLLATE "C" NOT NULL,
    target        TEXT COLLATE "C" NOT NULL,
    operation_id  TEXT COLLATE "C" REFERENCES operations (id),
    marker        TEXT COLLATE "C",
    amount        BIGINT NOT NULL,
    currency      TEXT COLLATE "C" NOT NULL,
    status        TEXT COLLATE "C" NOT NULL,
    provider_status TEXT COLLATE "C" NOT NULL,
    created_at    BIGINT,
    first_seen_at BIGINT NOT NULL,
    last_seen_at  BIGINT NOT NULL,
    PRIMARY KEY (account, external_id)
);
CREATE INDEX effects_by_payment ON effects (account, target);

-- Whether an account's writes are paused, and when one canary may try.
CREATE TABLE pauses (
    account       TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    paused_at     BIGINT NOT NULL,
    canary_at     BIGINT NOT NULL,
    canary_gap_s  BIGINT NOT NULL,
    secret_digest TEXT COLLATE "C" NOT NULL
);

-- One open alarm per account and kind.
CREATE TABLE alarms (
    id         TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    account    TEXT COLLATE "C" NOT NULL,
    kind       TEXT COLLATE "C" NOT NULL,
    detail     TEXT COLLATE "C" NOT NULL,
    raised_at  BIGINT NOT NULL,
    cleared_at BIGINT
);
CREATE UNIQUE INDEX alarms_open ON alarms (account, kind) WHERE cleared_at IS NULL;

-- When each job of the daemon last ran.
CREATE TABLE runs (
    job         TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    started_at  BIGINT NOT NULL,
    finished_at BIGINT,
    found       BIGINT NOT NULL
);

-- Append-only, by triggers that hold for the owner too …
CREATE FUNCTION counterfoil_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION USING MESSAGE = TG_ARGV[0], ERRCODE = 'restrict_violation';
END
$$;
CREATE TRIGGER entries_no_update BEFORE UPDATE ON entries FOR EACH ROW EXECUTE FUNCTION counterfoil_refuse('entries are append-only');
CREATE TRIGGER entries_no_delete BEFORE DELETE ON entries FOR EACH ROW EXECUTE FUNCTION counterfoil_refuse('entries are append-only');
CREATE TRIGGER entries_no_truncate BEFORE TRUNCATE ON entries EXECUTE FUNCTION counterfoil_refuse('entries are append-only');
CREATE TRIGGER chain_no_update BEFORE UPDATE ON chain FOR EACH ROW EXECUTE FUNCTION counterfoil_refuse('chain is append-only');
CREATE TRIGGER chain_no_delete BEFORE DELETE ON chain FOR EACH ROW EXECUTE FUNCTION counterfoil_refuse('chain is append-only');
CREATE TRIGGER chain_no_truncate BEFORE TRUNCATE ON chain EXECUTE FUNCTION counterfoil_refuse('chain is append-only');
CREATE TRIGGER bodies_no_update BEFORE UPDATE ON bodies FOR EACH ROW EXECUTE FUNCTION counterfoil_refuse('bodies are append-only');
CREATE TRIGGER operations_no_delete BEFORE DELETE ON operations FOR EACH ROW EXECUTE FUNCTION counterfoil_refuse('operations are never removed');
CREATE TRIGGER operations_no_truncate BEFORE TRUNCATE ON operations EXECUTE FUNCTION counterfoil_refuse('operations are never removed');
CREATE TRIGGER operations_fixed BEFORE UPDATE OF id, base_id, kind, revision, order_id, account, target, amount, currency, marker, intent, intent_hash, created_at
    ON operations FOR EACH ROW EXECUTE FUNCTION counterfoil_refuse('what an operation is never changes');

-- … and by rights. Where one role both migrates and serves, it takes the rights from itself: an owner may give them back, but
-- no statement of the program ever has them by accident.
REVOKE UPDATE, DELETE, TRUNCATE ON entries, chain FROM CURRENT_USER;
REVOKE DELETE, TRUNCATE ON operations FROM CURRENT_USER;

-- Gives a role what `counterfoil serve` needs and nothing more; see migrations/README.md. The owner runs it after each migration:
--     SELECT counterfoil_grant('counterfoil_app');
CREATE FUNCTION counterfoil_grant(app name) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    granted record;
BEGIN
    FOR granted IN SELECT * FROM (VALUES
        ('_sqlx_migrations', 'SELECT'),
        ('meta', 'SELECT, INSERT'),
        ('kinds', 'SELECT, INSERT'),
        ('people', 'SELECT, INSERT'),
        ('tokens', 'SELECT, INSERT'),
        ('payments', 'SELECT, INSERT, UPDATE'),
        ('orders', 'SELECT, INSERT, UPDATE'),
        ('operations', 'SELECT, INSERT, UPDATE (facts, state, version, seq, head, holds, external_id, incidents, state_since,
            window_closes_at, updated_at, due_at, reason, lease_token, lease_until, look_up_asked_at, set_aside)'),
        ('entries', 'SELECT, INSERT'),
        ('chain', 'SELECT, INSERT'),
        ('chain_head', 'SELECT, INSERT, UPDATE'),
        ('bodies', 'SELECT, INSERT'),
        ('effects', 'SELECT, INSERT, UPDATE'),
        ('pauses', 'SELECT, INSERT, UPDATE, DELETE'),
        ('alarms', 'SELECT, INSERT, UPDATE'),
        ('runs', 'SELECT, INSERT, UPDATE')
    ) AS rights (name, rights) LOOP
        EXECUTE format('REVOKE ALL ON %I.%I FROM %I', current_schema(), granted.name, app);
        EXECUTE format('GRANT %s ON %I.%I TO %I', granted.rights, current_schema(), granted.name, app);
    END LOOP;
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO %I', current_schema(), app);
END
$$;
REVOKE ALL ON FUNCTION counterfoil_grant(name) FROM PUBLIC;
