-- The last few versions of each session's summary; the newest is the one in use. Body and cursor
-- are one row, so they cannot disagree.
CREATE TABLE summaries (
    version INTEGER PRIMARY KEY AUTOINCREMENT,
    session INTEGER NOT NULL REFERENCES sessions (number) ON DELETE CASCADE,
    body TEXT NOT NULL,
    -- The last message that is covered; NULL for a summary that came without one (import).
    cursor_seq INTEGER,
    -- How many characters of the message behind the cursor are covered too (a split record).
    cursor_chars INTEGER NOT NULL DEFAULT 0,
    -- When that message was sent: shown to people, compared with nothing.
    cursor_sent_at_ns INTEGER,
    saved_at_ns INTEGER NOT NULL
) STRICT;

CREATE INDEX summaries_by_session ON summaries (session, version);

-- Sessions that have something the summary does not cover. A mark may be one too many, never one
-- too few: messages set it, here and nowhere else, and only the summary's owner takes it away.
CREATE TABLE summary_due (
    session INTEGER PRIMARY KEY REFERENCES sessions (number) ON DELETE CASCADE,
    -- Grows with every edit or deletion: a run that read a message before that must not save.
    changes INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TRIGGER message_makes_summary_due AFTER INSERT ON messages
WHEN (SELECT id NOT GLOB 'temp-*' FROM sessions WHERE number = NEW.session)
BEGIN
    INSERT OR IGNORE INTO summary_due (session) VALUES (NEW.session);
END;

CREATE TRIGGER edit_changes_due AFTER UPDATE OF text ON messages
BEGIN
    UPDATE summary_due SET changes = changes + 1 WHERE session = NEW.session;
END;

CREATE TRIGGER deletion_changes_due AFTER DELETE ON messages
BEGIN
    UPDATE summary_due SET changes = changes + 1 WHERE session = OLD.session;
END;

-- For a database that already holds messages.
INSERT INTO summary_due (session)
SELECT number FROM sessions
WHERE id NOT GLOB 'temp-*' AND EXISTS (SELECT 1 FROM messages WHERE session = number);
