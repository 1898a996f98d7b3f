-- For SQLite and PostgreSQL alike: only texts and 64-bit numbers.

-- Record numbers come from a row instead of a sequence. The writer locks the row until the commit, so numbers
-- become visible in order and without gaps.
CREATE TABLE counters (
    name TEXT PRIMARY KEY,
    value BIGINT NOT NULL
);
INSERT INTO counters (name, value) VALUES ('records', 0);

-- The records, appended and never changed. Times are milliseconds since 1970 by the database's clock.
CREATE TABLE records (
    seq BIGINT PRIMARY KEY,
    recorded_at BIGINT NOT NULL,
    host TEXT,
    repository TEXT,
    number BIGINT,
    kind TEXT NOT NULL,
    who TEXT NOT NULL,
    why TEXT NOT NULL,
    once_key TEXT,
    body TEXT NOT NULL
);
-- A key is unique within its kind. Records without a key do not conflict.
CREATE UNIQUE INDEX records_once ON records (kind, once_key);
CREATE INDEX records_about ON records (lower(repository), number, seq);

-- The last snapshot of each pull request.
CREATE TABLE snapshots (
    pull_request TEXT PRIMARY KEY,
    host TEXT NOT NULL,
    repository TEXT NOT NULL,
    number BIGINT NOT NULL,
    saved_at BIGINT NOT NULL,
    snapshot TEXT NOT NULL,
    poll TEXT
);

-- The leases. A row stays when its lease ends, because the epoch must keep growing.
CREATE TABLE leases (
    pull_request TEXT PRIMARY KEY,
    host TEXT NOT NULL,
    repository TEXT NOT NULL,
    number BIGINT NOT NULL,
    holder TEXT NOT NULL,
    epoch BIGINT NOT NULL,
    held_until BIGINT NOT NULL
);
