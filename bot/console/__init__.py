"""The conversation of who sits at this machine."""
