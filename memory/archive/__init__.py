"""Every message as it was said: its table, how much of it is hot, and reading around a row."""
