"""`summary.json` and `.summary_cursor`, read and written."""

from datetime import tzinfo
from pathlib import Path

from memory.summary.value import Summary, read_summary
from memory.transfer.interface import BadValue, Problems
from memory.transfer.json_values import whole
from memory.transfer.times import NS, from_local


def summary_in(path: Path, problems: Problems) -> Summary | None:
    """The summary of a file, one with the keys of early versions too; None without any.

    An empty file or object is no summary, as the old program wrote one before its first run.
    """
    try:
        text = whole(path).strip()
        if text in ("", "{}", "null"):
            return None
        summary = read_summary(text)
    except BadValue as error:
        problems.add(path, None, str(error))
        return None
    if summary is None:
        problems.add(path, 1, "is not a summary (an object with key_decisions and the rest)")
    return summary


def cursor_in(path: Path, zone: tzinfo | None, problems: Problems) -> int | None:
    """End of the second that a summary reaches to, in nanoseconds; None for a blank file.

    The file says a second only, so every message of that second is covered.
    """
    try:
        text = whole(path).strip()
        return from_local(text, zone) + NS if text else None
    except BadValue as error:
        problems.add(path, 1, str(error))
        return None
