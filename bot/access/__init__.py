"""Who may speak where, and which conversation a message belongs to."""
