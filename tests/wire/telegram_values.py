"""What a test says to the Telegram server: people, chats, what the bot sent, and faults."""

from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Person:
    id: int
    first_name: str
    last_name: str | None = None
    username: str | None = None
    language: str | None = None
    is_bot: bool = False

    def json(self):
        return without_none(
            id=self.id,
            is_bot=self.is_bot,
            first_name=self.first_name,
            last_name=self.last_name,
            username=self.username,
            language_code=self.language,
        )


@dataclass(frozen=True, kw_only=True)
class Chat:
    id: int
    type: str
    title: str | None = None
    is_forum: bool | None = None
    person: Person | None = None

    def json(self):
        name = {"first_name": self.person.first_name} if self.person else {}
        return without_none(
            id=self.id, type=self.type, title=self.title, is_forum=self.is_forum, **name
        )


def private(person):
    return Chat(id=person.id, type="private", person=person)


def group(chat_id, title="Group"):
    return Chat(id=chat_id, type="group", title=title)


def supergroup(chat_id, title="Supergroup", *, is_forum=None):
    return Chat(id=chat_id, type="supergroup", title=title, is_forum=is_forum)


@dataclass(kw_only=True)
class Sent:
    """A message that the bot sent. `text` is what people see, `raw` what the bot gave."""

    chat: int
    message_id: int
    text: str
    raw: str
    parse_mode: str | None
    entities: list
    reply_to: int | None
    thread: int | None
    at_s: float
    edits: list = field(default_factory=list)


@dataclass(kw_only=True)
class Call:
    """One request as it came in; `status` is None until answered, and stays so if dropped."""

    method: str
    params: dict
    at_s: float
    status: int | None = None


@dataclass(frozen=True, kw_only=True)
class Fault:
    """What happens instead of, or around, the right answer to one call."""

    status: int | None = None
    description: str = ""
    parameters: dict | None = None
    body: bytes | None = None
    drop: str | None = None
    """`before` the call is carried out, or `after`: both times the client hears nothing."""
    latency_s: float = 0.0
    chat: int | None = None
    """Only calls about this chat meet it."""


def too_many(retry_after_s, **where):
    return Fault(
        status=429,
        description=f"Too Many Requests: retry after {retry_after_s}",
        parameters={"retry_after": retry_after_s},
        **where,
    )


def server_error(status=500, **where):
    return Fault(status=status, description="Internal Server Error", **where)


def not_json(status=502, **where):
    return Fault(status=status, body=b"<html>Bad Gateway</html>", **where)


def blocked(**where):
    return Fault(status=403, description="Forbidden: bot was blocked by the user", **where)


def conflict():
    return Fault(
        status=409,
        description="Conflict: terminated by other getUpdates request; "
        "make sure that only one bot instance is running",
    )


def bad_request(what, **where):
    return Fault(status=400, description=f"Bad Request: {what}", **where)


def drop_before(**where):
    return Fault(drop="before", **where)


def drop_after(**where):
    return Fault(drop="after", **where)


def slow(latency_s, **where):
    return Fault(latency_s=latency_s, **where)


def without_none(**fields):
    return {key: value for key, value in fields.items() if value is not None}
