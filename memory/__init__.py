"""The memory engine: what a reply sees, what is kept, what is forgotten."""
