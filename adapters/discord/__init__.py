"""Discord: messages, replies and slash commands through discord.py."""
