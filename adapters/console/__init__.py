"""The console: the same engine on a terminal or in a pipe, without a token."""
