"""The tables: each family has one owner module, its only writer."""
