-- The short and the long pool: distilled sentences, never a transcript.
CREATE TABLE pool_entries (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session INTEGER NOT NULL REFERENCES sessions (number) ON DELETE CASCADE,
    pool TEXT NOT NULL CHECK (pool IN ('short', 'long')),
    tag TEXT NOT NULL CHECK (tag IN ('event', 'refined', 'fact', 'imported')),
    scope TEXT NOT NULL CHECK (scope IN ('person', 'group')),
    content TEXT NOT NULL,
    person TEXT,
    name TEXT,
    said_at_ns INTEGER NOT NULL,
    -- The entry that took this one's place. What an entry has superseded is its history and goes
    -- with it: forgetting the present must not bring the past back.
    superseded_by INTEGER REFERENCES pool_entries (id) ON DELETE CASCADE,
    vector BLOB,
    vector_model TEXT,
    CHECK ((person IS NULL) = (name IS NULL)),
    CHECK (scope = 'group' OR person IS NOT NULL),
    CHECK ((vector IS NULL) = (vector_model IS NULL))
) STRICT;

CREATE INDEX pool_entries_by_session ON pool_entries (session, pool, id);
CREATE INDEX pool_entries_by_successor ON pool_entries (superseded_by)
WHERE superseded_by IS NOT NULL;
CREATE INDEX pool_entries_by_person ON pool_entries (person) WHERE person IS NOT NULL;

-- Where each entry came from. Ids only, without foreign keys: a source may be cleared away (reset,
-- refining) while what was made of it stays.
CREATE TABLE pool_sources (
    entry INTEGER NOT NULL REFERENCES pool_entries (id) ON DELETE CASCADE,
    kind TEXT NOT NULL CHECK (kind IN ('message', 'turn', 'entry')),
    source TEXT NOT NULL,
    PRIMARY KEY (entry, kind, source)
) STRICT, WITHOUT ROWID;

CREATE INDEX pool_sources_by_source ON pool_sources (kind, source);

-- What refining counts for each owner of a pool; `person` is empty for the group.
CREATE TABLE pool_upkeep (
    session INTEGER NOT NULL REFERENCES sessions (number) ON DELETE CASCADE,
    person TEXT NOT NULL,
    turns INTEGER NOT NULL DEFAULT 0,
    strikes INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (session, person)
) STRICT, WITHOUT ROWID;

-- Turns that are still to be distilled. Without `seq` the turn itself is in memory only (pools
-- mode): such a mark holds no word of it, and tells after a restart that something was lost.
CREATE TABLE to_distil (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    session INTEGER NOT NULL REFERENCES sessions (number) ON DELETE CASCADE,
    seq INTEGER REFERENCES messages (seq) ON DELETE CASCADE,
    in_group INTEGER NOT NULL DEFAULT 0,
    attempts INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX to_distil_by_session ON to_distil (session, number);
CREATE INDEX to_distil_by_seq ON to_distil (seq) WHERE seq IS NOT NULL;

-- Per session: whether people paused the pools, and how many turns were lost undistilled.
CREATE TABLE pool_sessions (
    session INTEGER PRIMARY KEY REFERENCES sessions (number) ON DELETE CASCADE,
    paused INTEGER NOT NULL DEFAULT 0,
    lost_turns INTEGER NOT NULL DEFAULT 0
) STRICT;

-- NULL: what the configuration says for the place.
ALTER TABLE sessions ADD COLUMN mode TEXT CHECK (mode IN ('full', 'window', 'pools'));
