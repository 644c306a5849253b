-- A session is one conversation. `number` is for joins only: people and code know it by `id`.
CREATE TABLE sessions (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL,
    epoch INTEGER NOT NULL DEFAULT 0,
    start_seq INTEGER NOT NULL DEFAULT 0,
    window_seq INTEGER NOT NULL DEFAULT 0,
    created_at_ns INTEGER NOT NULL,
    active_at_ns INTEGER NOT NULL
) STRICT;

-- Hot history and archive at once. `seq` only grows and is never used again (AUTOINCREMENT), so
-- that a cursor kept as a row number can neither skip a message nor see one twice.
CREATE TABLE messages (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    session INTEGER NOT NULL REFERENCES sessions (number) ON DELETE CASCADE,
    role TEXT NOT NULL CHECK (role IN ('user', 'assistant')),
    text TEXT NOT NULL,
    sent_at_ns INTEGER NOT NULL,
    person TEXT,
    name TEXT,
    platform_id TEXT,
    CHECK ((person IS NULL) = (name IS NULL))
) STRICT;

CREATE INDEX messages_by_session ON messages (session, seq);
CREATE INDEX messages_by_platform_id ON messages (session, platform_id) WHERE platform_id IS NOT NULL;
CREATE INDEX messages_by_person ON messages (person, session) WHERE person IS NOT NULL;
