"""The rolling summary of a conversation: its table, pass and slot."""
