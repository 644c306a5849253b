"""A small model that runs inside the process: weights fetched as checked data, chat, vectors."""
