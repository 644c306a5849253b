"""A text cut to what one Discord message takes."""

from adapters.split import split

LIMIT_CHARS = 2000
"""Code points of one message's content (Discord developer docs, "Create Message")."""

_NOTHING = "…"


def parts(text: str) -> list[str]:
    """At least one part, none empty, each at most `LIMIT_CHARS` code points."""
    return split(text, limit=LIMIT_CHARS) or [_NOTHING]
