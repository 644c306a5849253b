-- How many UTF-8 bytes a message takes in history.json (memory/exchange/history_file.py), with the
-- comma or bracket behind it. Not stored: computed where it is asked for.
ALTER TABLE messages ADD COLUMN record_bytes INTEGER GENERATED ALWAYS AS (
    length(CAST(json_object('role', role, 'content', text, 'sendAt', sent_at_ns) AS BLOB))
    + CASE WHEN name IS NULL THEN 0
        ELSE length(',"sender":') + length(CAST(json_quote(name) AS BLOB))
            + length(',"person":') + length(CAST(json_quote(person) AS BLOB)) END
    + CASE WHEN platform_id IS NULL THEN 0
        ELSE length(',"messageId":') + length(CAST(json_quote(platform_id) AS BLOB)) END
    + 1
) VIRTUAL;

-- The sum over each session's hot history, kept up to date by triggers alone, so that nobody has
-- to read a session to know that it has grown too big.
CREATE TABLE hot_bytes (
    session INTEGER PRIMARY KEY REFERENCES sessions (number) ON DELETE CASCADE,
    bytes INTEGER NOT NULL
) STRICT;

CREATE INDEX hot_bytes_by_size ON hot_bytes (bytes);

CREATE TRIGGER message_adds_bytes AFTER INSERT ON messages
BEGIN
    INSERT INTO hot_bytes (session, bytes) VALUES (NEW.session, NEW.record_bytes)
    ON CONFLICT (session) DO UPDATE SET bytes = bytes + excluded.bytes;
END;

CREATE TRIGGER edit_changes_bytes
AFTER UPDATE OF role, text, sent_at_ns, person, name, platform_id ON messages
WHEN NEW.seq >= (SELECT start_seq FROM sessions WHERE number = NEW.session)
BEGIN
    UPDATE hot_bytes SET bytes = bytes - OLD.record_bytes + NEW.record_bytes
    WHERE session = NEW.session;
END;

CREATE TRIGGER deletion_takes_bytes AFTER DELETE ON messages
WHEN OLD.seq >= (SELECT start_seq FROM sessions WHERE number = OLD.session)
BEGIN
    UPDATE hot_bytes SET bytes = bytes - OLD.record_bytes WHERE session = OLD.session;
END;

CREATE TRIGGER cutoff_changes_bytes AFTER UPDATE OF start_seq ON sessions
WHEN NEW.start_seq <> OLD.start_seq
BEGIN
    UPDATE hot_bytes SET bytes = (
        SELECT coalesce(sum(record_bytes), 0) FROM messages
        WHERE session = NEW.number AND seq >= NEW.start_seq)
    WHERE session = NEW.number;
END;

INSERT INTO hot_bytes (session, bytes)
SELECT s.number, sum(m.record_bytes) FROM sessions AS s JOIN messages AS m
ON m.session = s.number AND m.seq >= s.start_seq GROUP BY s.number;
