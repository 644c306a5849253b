"""The three memories that a session can use (full, window, pools), and their work after a turn."""
