"""The composition root: the configuration turned into open parts."""
