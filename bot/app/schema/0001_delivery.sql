-- What was taken over and is not yet answered, and the ids of what was. `text`, `name` and `title`
-- are erased when the row is closed; in pools mode they are never written. Ids stay for a while,
-- so that a message that a platform delivers twice is taken once.
CREATE TABLE inbox (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    platform TEXT NOT NULL,
    bot TEXT NOT NULL,
    chat TEXT NOT NULL,
    message TEXT NOT NULL,
    kind TEXT NOT NULL,
    topic TEXT,
    parent TEXT,
    guild TEXT,
    title TEXT,
    person TEXT,
    name TEXT,
    roles TEXT,
    language TEXT,
    text TEXT,
    addressed INTEGER NOT NULL,
    reply_to TEXT,
    sent_at_ns INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (
        state IN ('waiting', 'working', 'answered', 'failed', 'refused', 'expired', 'lost')
    ),
    attempts INTEGER NOT NULL DEFAULT 0,
    changed_at_ns INTEGER NOT NULL,
    UNIQUE (platform, bot, chat, message)
) STRICT;

CREATE INDEX inbox_open ON inbox (number) WHERE state IN ('waiting', 'working');
CREATE INDEX inbox_by_person ON inbox (person) WHERE person IS NOT NULL;

-- One row for each part of what is to be sent. `text` is erased when the row is closed; in pools
-- mode it is never written. `due_at_ns` is when it may be sent at the earliest.
CREATE TABLE outbox (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    inbox INTEGER REFERENCES inbox (number) ON DELETE SET NULL,
    part INTEGER NOT NULL,
    platform TEXT NOT NULL,
    bot TEXT NOT NULL,
    chat TEXT NOT NULL,
    kind TEXT NOT NULL,
    topic TEXT,
    parent TEXT,
    guild TEXT,
    text TEXT,
    reply_to TEXT,
    nonce TEXT NOT NULL UNIQUE,
    notice TEXT,
    counted INTEGER NOT NULL DEFAULT 0,
    state TEXT NOT NULL CHECK (
        state IN ('waiting', 'sending', 'delivered', 'refused', 'unknown', 'expired', 'lost')
    ),
    sends INTEGER NOT NULL DEFAULT 0,
    due_at_ns INTEGER NOT NULL,
    created_at_ns INTEGER NOT NULL,
    changed_at_ns INTEGER NOT NULL,
    platform_id TEXT
) STRICT;

CREATE INDEX outbox_open ON outbox (platform, bot, chat, number) WHERE state IN ('waiting', 'sending');
CREATE INDEX outbox_by_inbox ON outbox (inbox) WHERE inbox IS NOT NULL;

-- How far each stream of platform events has been taken in.
CREATE TABLE positions (
    platform TEXT NOT NULL,
    bot TEXT NOT NULL,
    stream TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (platform, bot, stream)
) STRICT, WITHOUT ROWID;

-- Updates that could not be understood: which, and why. Never their text.
CREATE TABLE quarantine (
    platform TEXT NOT NULL,
    bot TEXT NOT NULL,
    update_id TEXT NOT NULL,
    fault TEXT NOT NULL,
    at_ns INTEGER NOT NULL,
    PRIMARY KEY (platform, bot, update_id)
) STRICT, WITHOUT ROWID;

-- Places that got a new id and stayed the same conversation.
CREATE TABLE moves (
    platform TEXT NOT NULL,
    bot TEXT NOT NULL,
    old TEXT NOT NULL,
    new TEXT NOT NULL,
    PRIMARY KEY (platform, bot, old)
) STRICT, WITHOUT ROWID;
