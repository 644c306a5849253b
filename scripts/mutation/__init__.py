"""Mutation testing: what the tests notice when a line is broken."""
