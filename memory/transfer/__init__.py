"""Conversations as files: export, and import in three steps (find, check, write)."""
