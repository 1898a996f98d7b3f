-- Understood by SQLite and PostgreSQL alike: texts, 64-bit numbers, no type that only one of them has.

-- Numbers are taken from a row and not from a sequence: whoever appends holds the row until the commit, so that
-- numbers become visible in their order and without gaps.
CREATE TABLE counters (
    name TEXT PRIMARY KEY,
    value BIGINT NOT NULL
);
INSERT INTO counters (name, value) VALUES ('records', 0);

-- Everything that happened, appended and never changed. Times are milliseconds since 1970 by the database's clock.
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
-- What happens once: a key may stand only once for a kind. Records without a key do not get in each other's way.
CREATE UNIQUE INDEX records_once ON records (kind, once_key);
CREATE INDEX records_about ON records (lower(repository), number, seq);

-- The last poll of each pull request, replaced by the next.
CREATE TABLE snapshots (
    pull_request TEXT PRIMARY KEY,
    host TEXT NOT NULL,
    repository TEXT NOT NULL,
    number BIGINT NOT NULL,
    saved_at BIGINT NOT NULL,
    snapshot TEXT NOT NULL,
    poll TEXT
);

-- Who drives which pull request. Rows stay when a lease ends, because its epoch must go on growing.
CREATE TABLE leases (
    pull_request TEXT PRIMARY KEY,
    host TEXT NOT NULL,
    repository TEXT NOT NULL,
    number BIGINT NOT NULL,
    holder TEXT NOT NULL,
    epoch BIGINT NOT NULL,
    held_until BIGINT NOT NULL
);
