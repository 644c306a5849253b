"""The tables in the database file: memory's, and the service's own."""

from importlib.resources import files

from memory.database.database import MEMORY_SCHEMA, Schema

BOT_SCHEMA = Schema(owner="bot", directory=files("bot.app") / "schema")
SCHEMAS = (MEMORY_SCHEMA, BOT_SCHEMA)
