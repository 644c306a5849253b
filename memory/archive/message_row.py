"""How a row of `messages` becomes a message."""

from memory.database.database import Row
from memory.values import Message, PersonId, Role, Seq, SessionId, Speaker

COLUMNS = "m.seq, s.id AS session, m.role, m.text, m.sent_at_ns, m.person, m.name, m.platform_id"
"""Of `messages AS m JOIN sessions AS s`."""


def message_of(row: Row) -> Message:
    """A message from a row that holds these columns."""
    person = row["person"]
    return Message(
        seq=Seq(row["seq"]),
        session=SessionId(row["session"]),
        role=Role(row["role"]),
        text=row["text"],
        sent_at_ns=row["sent_at_ns"],
        speaker=None if person is None else Speaker(person=PersonId(person), name=row["name"]),
        platform_id=row["platform_id"],
    )
