"""What is done to kept memory as a whole: reset, deletion, edits, compaction, repair."""
