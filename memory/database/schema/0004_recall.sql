-- Keyword search. Every message's text, cut into segments by the function `kith_segments` that the
-- writer's connection brings along (memory/database.py). Each segment carries the number of its
-- session (`12:tea`), so that a search reads nothing of other sessions, however many there are.
-- The segments are stored because FTS5 must be told the exact old ones to forget a row
-- (sqlite.org/fts5.html, 4.4.3), even after the rules of cutting have changed.
CREATE TABLE message_segments (
    seq INTEGER PRIMARY KEY,
    segments TEXT NOT NULL
) STRICT;

CREATE VIRTUAL TABLE message_words USING fts5 (
    segments,
    content = 'message_segments',
    content_rowid = 'seq',
    columnsize = 0,
    tokenize = "unicode61 remove_diacritics 0 categories 'L* M* N* P* S* C*'"
);

CREATE TRIGGER message_segments_inserted AFTER INSERT ON message_segments BEGIN
    INSERT INTO message_words (rowid, segments) VALUES (NEW.seq, NEW.segments);
END;

CREATE TRIGGER message_segments_deleted AFTER DELETE ON message_segments BEGIN
    INSERT INTO message_words (message_words, rowid, segments)
    VALUES ('delete', OLD.seq, OLD.segments);
END;

-- Vectors. `number` grows with every vector, so an index that was built from them asks only for
-- what came later; `vector_removals` tells it that something went.
CREATE TABLE message_vectors (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    seq INTEGER NOT NULL UNIQUE REFERENCES messages (seq) ON DELETE CASCADE,
    session INTEGER NOT NULL,
    model TEXT NOT NULL,
    dimension INTEGER NOT NULL,
    vector BLOB NOT NULL CHECK (length(vector) = 4 * dimension)
) STRICT;

CREATE INDEX message_vectors_by_session ON message_vectors (session, model, number);

CREATE TABLE vector_removals (
    session INTEGER PRIMARY KEY,
    removals INTEGER NOT NULL
) STRICT;

-- The embedding backlog: messages whose vector is still to be made.
CREATE TABLE message_backlog (
    seq INTEGER PRIMARY KEY REFERENCES messages (seq) ON DELETE CASCADE
) STRICT;

CREATE TRIGGER message_vectors_inserted AFTER INSERT ON message_vectors BEGIN
    DELETE FROM message_backlog WHERE seq = NEW.seq;
END;

CREATE TRIGGER message_vectors_deleted AFTER DELETE ON message_vectors BEGIN
    INSERT INTO vector_removals (session, removals) VALUES (OLD.session, 1)
    ON CONFLICT (session) DO UPDATE SET removals = removals + 1;
END;

CREATE TRIGGER messages_inserted AFTER INSERT ON messages BEGIN
    INSERT INTO message_segments (seq, segments)
    VALUES (NEW.seq, kith_segments(NEW.session, NEW.text));
    INSERT INTO message_backlog (seq) VALUES (NEW.seq);
END;

-- In the same transaction as the change itself, so that no search can find what was taken back.
CREATE TRIGGER messages_edited AFTER UPDATE OF text, session, name ON messages
WHEN OLD.text <> NEW.text OR OLD.session <> NEW.session OR OLD.name IS NOT NEW.name BEGIN
    DELETE FROM message_segments WHERE seq = OLD.seq;
    INSERT INTO message_segments (seq, segments)
    VALUES (NEW.seq, kith_segments(NEW.session, NEW.text));
    DELETE FROM message_vectors WHERE seq = NEW.seq;
    INSERT OR IGNORE INTO message_backlog (seq) VALUES (NEW.seq);
END;

CREATE TRIGGER messages_deleted AFTER DELETE ON messages BEGIN
    DELETE FROM message_segments WHERE seq = OLD.seq;
END;

INSERT INTO message_segments (seq, segments)
SELECT seq, kith_segments(session, text) FROM messages ORDER BY seq;

INSERT INTO message_backlog (seq) SELECT seq FROM messages;
