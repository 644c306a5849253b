-- How far each imported file got, so that an interrupted import goes on where it was.
CREATE TABLE imports (
    session INTEGER NOT NULL REFERENCES sessions (number) ON DELETE CASCADE,
    -- SHA-256 of the file's messages.
    digest TEXT NOT NULL,
    records INTEGER NOT NULL,
    PRIMARY KEY (session, digest)
) STRICT, WITHOUT ROWID;

-- What was imported and is gone may be imported again.
CREATE TRIGGER deletion_reopens_imports AFTER DELETE ON messages
WHEN EXISTS (SELECT 1 FROM imports WHERE session = OLD.session)
BEGIN
    DELETE FROM imports WHERE session = OLD.session;
END;

CREATE INDEX messages_by_time ON messages (session, sent_at_ns);
