"""Telegram: private chats, groups and topics over the Bot API, by python-telegram-bot's types."""
