"""The chat service: config, access, delivery, lanes, turns, commands."""
