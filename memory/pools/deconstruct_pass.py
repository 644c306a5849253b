"""The pass that distils one turn into at most three facts for the short pool (seed 2, "deconstruct").

It sees one exchange and the notes that it may change; it never reads a transcript.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from memory.database import sessions_table
from memory.database.database import Database, Unit
from memory.errors import ModelAnswerInvalid
from memory.language.likeness import (
    CHANGE,
    about_others,
    changes,
    first_like,
    shares_words,
    touches,
)
from memory.language.loose_json import objects
from memory.language.smalltalk import is_plain_question, is_small_talk
from memory.language.taiwan import is_japanese
from memory.language.text import clip, estimate_tokens, has_cjk, one_line
from memory.pools import entries_table, queue_table
from memory.pools.cleaning import cleaned, in_language_of, rests_on
from memory.pools.entry import Entry, NewEntry, Pool, Scope, Source, Tag
from memory.pools.ranking import EntryQuery, rank, visible
from memory.ports import (
    ChatMessage,
    ChatModel,
    ChatRequest,
    ChatRole,
    JsonSchema,
    Priority,
)
from memory.prompt.wording import wording
from memory.values import SessionId, Speaker

MOST_FACTS = 3
"""Of one turn (seed 2: one to three)."""
MOST_KNOWN = 5
"""Notes that the model is shown, because the message may change them."""
TEXT_CHARS = 2_000
"""As much of a message as is read for facts."""
REPLY_CHARS = 300
"""As much of the reply as it takes to understand the message."""

_ANSWER_TOKENS = 300
_RETRY_TEMPERATURE = 0.7
_SLACK_TOKENS = 64
_LEAST_TEXT_CHARS = 200
_SYSTEM = wording("memory.pools", "deconstruct").template


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceTurn:
    """A turn as it is distilled."""

    session: SessionId
    epoch: int
    speaker: Speaker
    text: str
    reply: str
    said_at_ns: int
    source: Source
    group: bool = False
    """Whether others took part: then a fact may be about the group."""
    shown: tuple[str, ...] = ()
    """Entries that stood in the prompt: what repeats them is no news."""


class Distilled(StrEnum):
    """How the pass ended."""

    STORED = "stored"
    NOTHING = "nothing"
    """Nothing worth keeping."""
    SMALL_TALK = "small_talk"
    """No model was asked."""
    MOVED = "moved"
    """The session was reset or paused meanwhile; nothing was stored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fact:
    content: str
    scope: Scope
    replaces: frozenset[int]


def worth_distilling(text: str) -> bool:
    """Whether a message can hold a fact at all, as far as that is certain without a model."""
    own = _unquoted(text).strip()
    return not is_small_talk(own) and not is_plain_question(own)


class Deconstructor:
    """Distils turns, one at a time."""

    def __init__(self, *, database: Database, model: ChatModel) -> None:
        self._database = database
        self._model = model

    async def run(
        self, exchange: SourceTurn, *, mark: int | None = None, attempt: int = 0
    ) -> Distilled:
        """Distil a turn and take its mark away, both or neither.

        Args:
            exchange: the turn.
            mark: its row among those that are to be distilled.
            attempt: how often it failed before. A model that is asked the same in the same way
                gives the same broken answer, so later attempts are less strict.

        Raises:
            ModelError: the model could not be asked, or (`ModelAnswerInvalid`) answered with
                something that holds no list of facts. Nothing changed.
            StoreError: the database could not do it. Nothing changed.
        """
        facts: list[_Fact] = []
        worthwhile = worth_distilling(exchange.text)
        if worthwhile:
            known = await self._known(exchange)
            answer = await self._model.complete(await self._request(exchange, known, attempt))
            facts = _facts(answer.text, exchange, frozenset(one.id for one in known))
        if not await self._store(exchange, facts, mark):
            return Distilled.MOVED
        if not worthwhile:
            return Distilled.SMALL_TALK
        return Distilled.STORED if facts else Distilled.NOTHING

    async def _known(self, exchange: SourceTurn) -> list[Entry]:
        """The live notes that the message may change, best first."""
        async with self._database.reading() as reader:
            entries = await entries_table.every(reader, exchange.session)
        own = [one for one in visible(entries, exchange.speaker.person) if one.live]
        name = exchange.speaker.name
        near = [
            hit.entry
            for hit in rank(own, EntryQuery(text=exchange.text))
            if CHANGE.search(exchange.text)
            or touches(hit.entry.content, exchange.text, besides=name)
        ]
        return near[:MOST_KNOWN]

    async def _request(
        self, exchange: SourceTurn, known: Sequence[Entry], attempt: int
    ) -> ChatRequest:
        limits = await self._model.limits()
        budget = min(limits.prompt_tokens, limits.context_tokens - _ANSWER_TOKENS)
        chars = TEXT_CHARS
        text = _prompt_text(exchange, known, chars)
        while (
            chars > _LEAST_TEXT_CHARS
            and estimate_tokens(_SYSTEM) + estimate_tokens(text) + _SLACK_TOKENS > budget
        ):
            chars = chars * 3 // 4
            text = _prompt_text(exchange, known, chars)
        return ChatRequest(
            messages=(
                ChatMessage(role=ChatRole.SYSTEM, text=_SYSTEM),
                ChatMessage(role=ChatRole.USER, text=text),
            ),
            priority=Priority.BACKGROUND,
            schema=_schema(group=exchange.group, known=bool(known)),
            max_tokens=_ANSWER_TOKENS,
            temperature=_RETRY_TEMPERATURE if attempt else 0.0,
        )

    async def _store(self, exchange: SourceTurn, facts: Sequence[_Fact], mark: int | None) -> bool:
        """Store what was found; False when the session no longer stands as it did."""
        async with self._database.unit() as unit:
            if mark is not None and not await queue_table.done(unit, mark):
                return False
            session = await sessions_table.find(unit, exchange.session)
            state = await queue_table.state(unit, exchange.session)
            if session is None or session.epoch != exchange.epoch or state.paused:
                return False
            await queue_table.count_turn(unit, exchange.session, exchange.speaker.person)
            for fact in facts:
                await _keep(unit, exchange, fact)
        return True


async def _keep(unit: Unit, exchange: SourceTurn, fact: _Fact) -> None:
    """Store a fact, unless a live entry says it already, and let it supersede what it changes."""
    owner = exchange.speaker.person if fact.scope is Scope.PERSON else None
    entries = await entries_table.every(unit, exchange.session)
    live = [one for one in entries if one.live and one.owner == owner]
    twin = first_like(fact.content, [one.content for one in live])
    if twin is not None:
        said, sources = exchange.said_at_ns, (exchange.source,)
        await entries_table.renew(unit, live[twin].id, said_at_ns=said, sources=sources)
        return
    stored = await entries_table.add(
        unit,
        exchange.session,
        NewEntry(
            content=fact.content,
            pool=Pool.SHORT,
            tag=Tag.EVENT,
            scope=fact.scope,
            speaker=exchange.speaker,
            said_at_ns=exchange.said_at_ns,
            sources=(exchange.source,),
        ),
    )
    for old in live:
        if _replaces(fact, old, exchange):
            await entries_table.supersede(unit, old.id, by=stored)


def _replaces(fact: _Fact, old: Entry, exchange: SourceTurn) -> bool:
    """Whether a fact takes an entry's place: the model says so, or the words do.

    The model is believed only where the two have a word in common or the message speaks of a
    change, and never across people or things: small models name notes at random.
    """
    name = exchange.speaker.name
    if changes(fact.content, old.content, name=name):
        return True
    if about_others(fact.content, old.content, name=name):
        return False
    believed = CHANGE.search(exchange.text) or shares_words(fact.content, old.content, besides=name)
    return old.id in fact.replaces and bool(believed)


def _prompt_text(exchange: SourceTurn, known: Sequence[Entry], text_chars: int) -> str:
    text = clip(_unquoted(exchange.text), text_chars)
    name = one_line(exchange.speaker.name)
    parts = [f"Language: {_language(exchange.text)}"]
    if known:
        notes = "\n".join(f"[{one.id}] {one_line(one.content)}" for one in known)
        parts.append(f"Known notes:\n{notes}")
    parts += [f"{name} wrote:\n{text}", f"Reply:\n{clip(one_line(exchange.reply), REPLY_CHARS)}"]
    return "\n\n".join(parts)


def _language(text: str) -> str:
    if not has_cjk(text):
        return "the message's"
    return "Japanese" if is_japanese(text) else "Traditional Chinese of Taiwan (繁體中文)"


def _unquoted(text: str) -> str:
    """A message without the lines that it quotes: they were said before, by whoever it was."""
    return "\n".join(line for line in text.splitlines() if not line.lstrip().startswith(">"))


def _quoted(text: str) -> list[str]:
    quoted = (line.lstrip() for line in text.splitlines())
    return [line.lstrip("> ") for line in quoted if line.startswith(">")]


def _schema(*, group: bool, known: bool) -> JsonSchema:
    """The answer; what cannot be needed is not asked for, as every token costs a small model time."""
    fields: dict[str, JsonSchema] = {"fact": {"type": "string"}}
    if known:
        fields["replaces"] = {"type": "array", "items": {"type": "integer"}, "maxItems": 3}
    if group:
        fields["about_group"] = {"type": "boolean"}
    entry = {"type": "object", "properties": fields, "required": list(fields)}
    facts = {"type": "array", "items": entry, "maxItems": MOST_FACTS}
    return {"type": "object", "properties": {"facts": facts}, "required": ["facts"]}


def _facts(answer: str, exchange: SourceTurn, known: frozenset[int]) -> list[_Fact]:
    """The sound facts of an answer.

    Raises:
        ModelAnswerInvalid: it holds no list of facts.
    """
    name = exchange.speaker.name
    conversation = f"{_unquoted(exchange.text)}\n{exchange.reply}"
    said_before = [*exchange.shown, *_quoted(exchange.text)]
    found: list[_Fact] = []
    for listed in _listed(answer):
        content = cleaned(_content(listed), name=name)
        if (
            content is not None
            and rests_on(content, conversation, name=name)
            and in_language_of(content, _unquoted(exchange.text), name=name)
            and first_like(content, [*said_before, *(one.content for one in found)]) is None
        ):
            about_group = exchange.group and _flag(listed, "about_group")
            scope = Scope.GROUP if about_group else Scope.PERSON
            found.append(_Fact(content=content, scope=scope, replaces=_ids(listed) & known))
    return found[:MOST_FACTS]


def _listed(answer: str) -> list[object]:
    found = objects(answer)
    for one in reversed(found):
        facts = one.get("facts")
        if isinstance(facts, list):
            return facts
    if whole := [one for one in found if "fact" in one]:
        return list[object](whole)  # the list was cut off; these are complete
    raise ModelAnswerInvalid("the extract model gave no list of facts")


def _content(listed: object) -> str:
    value = listed.get("fact") if isinstance(listed, dict) else listed
    return value if isinstance(value, str) else ""


def _flag(listed: object, key: str) -> bool:
    return isinstance(listed, dict) and listed.get(key) is True


def _ids(listed: object) -> frozenset[int]:
    ids = listed.get("replaces") if isinstance(listed, dict) else None
    if not isinstance(ids, list):
        return frozenset()
    return frozenset(n for n in ids if isinstance(n, int) and not isinstance(n, bool))
