"""The one SQLite file: opening it, units of work, its schema and the table of sessions."""
