-- What administrators changed: who, when, what, and which conversation. Ids only.
CREATE TABLE audit (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    at_ns INTEGER NOT NULL,
    person TEXT NOT NULL,
    action TEXT NOT NULL,
    target TEXT NOT NULL
) STRICT;
