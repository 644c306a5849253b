"""The three memories that a session can use: full, window, pools."""
