"""A message's way in and its answer's way out, neither lost nor repeated."""
