-- The last run of each job. A run without an end was cut off with the process.
CREATE TABLE jobs (
    name TEXT PRIMARY KEY,
    began_at_ns INTEGER NOT NULL,
    duration_ms INTEGER,
    outcome TEXT CHECK (outcome IN ('done', 'failed')),
    detail TEXT NOT NULL DEFAULT '',
    CHECK ((outcome IS NULL) = (duration_ms IS NULL))
) STRICT, WITHOUT ROWID;
