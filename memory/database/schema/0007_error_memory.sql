-- What went wrong with tools and what helped: shared by all sessions, so it holds the tool's side
-- only. Each record carries its own vector; a row without one waits for it.
CREATE TABLE error_memory (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    tool TEXT NOT NULL,
    error_class TEXT NOT NULL,
    -- JSON array of strings.
    keywords TEXT NOT NULL,
    symptom TEXT NOT NULL,
    cause TEXT,
    action TEXT NOT NULL,
    outcome TEXT NOT NULL CHECK (outcome IN ('resolved', 'failed', 'abandoned')),
    written_at_ns INTEGER NOT NULL,
    expires_at_ns INTEGER NOT NULL,
    -- Whose vector it is; both or neither.
    model TEXT,
    vector BLOB,
    CHECK ((model IS NULL) = (vector IS NULL))
) STRICT;

CREATE INDEX error_memory_by_tool ON error_memory (tool, error_class);
CREATE INDEX error_memory_by_expiry ON error_memory (expires_at_ns);

-- rowid = number. The segments are cut by memory.segments; see there for the tokenizer.
CREATE VIRTUAL TABLE error_memory_words USING fts5 (
    words, tokenize = "unicode61 remove_diacritics 0 categories 'L* M* N* P* S* C*'"
);

-- Grows whenever a vector comes, changes or goes, in whatever process: what is kept in memory of
-- them is then read again.
CREATE TABLE error_memory_changes (changes INTEGER NOT NULL) STRICT;
INSERT INTO error_memory_changes VALUES (0);

CREATE TRIGGER error_record_comes AFTER INSERT ON error_memory BEGIN
    UPDATE error_memory_changes SET changes = changes + 1;
END;

CREATE TRIGGER error_vector_changes AFTER UPDATE OF vector ON error_memory BEGIN
    UPDATE error_memory_changes SET changes = changes + 1;
END;

CREATE TRIGGER error_record_goes AFTER DELETE ON error_memory BEGIN
    DELETE FROM error_memory_words WHERE rowid = OLD.number;
    UPDATE error_memory_changes SET changes = changes + 1;
END;

-- Finished tool runs of each session, shortened, for a few days. A result may hold what people
-- said, so no run outlives a change or removal of its session's messages.
CREATE TABLE tool_runs (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    session INTEGER NOT NULL REFERENCES sessions (number) ON DELETE CASCADE,
    tool TEXT NOT NULL,
    arguments TEXT NOT NULL,
    result TEXT NOT NULL,
    failed INTEGER NOT NULL CHECK (failed IN (0, 1)),
    ran_at_ns INTEGER NOT NULL,
    elapsed_ms INTEGER NOT NULL
) STRICT;

CREATE INDEX tool_runs_by_session ON tool_runs (session, number);
CREATE INDEX tool_runs_by_time ON tool_runs (ran_at_ns);

CREATE TRIGGER message_removal_ends_tool_runs AFTER DELETE ON messages BEGIN
    DELETE FROM tool_runs WHERE session = OLD.session;
END;

CREATE TRIGGER message_edit_ends_tool_runs AFTER UPDATE OF text ON messages BEGIN
    DELETE FROM tool_runs WHERE session = NEW.session;
END;
