"""Finding messages again by words and by meaning: indexes, ranking, pass and slot."""
