"""`/memory`: what is remembered of a person here, for that person to see and to change."""

from collections.abc import Iterable
from datetime import tzinfo

from bot.commands.registry import Command, Handler, Request
from bot.ports import CommandAnswer, CommandGroup, CommandOption, CommandSpec, OptionKind
from bot.texts.memory_words import MemoryWord, explain, tell
from bot.texts.words import Language
from memory.engine import Engine
from memory.language.times import format_minute
from memory.pools.desk import Viewer
from memory.pools.entry import Entry, Pool
from memory.values import Speaker

MOST_LISTED = 40
"""Facts in one answer, the newest first: it stays one message."""
_GROUP = CommandGroup(name="memory", descriptions=explain(MemoryWord.ABOUT_MEMORY))
_ID = CommandOption(
    name="id", descriptions=explain(MemoryWord.ABOUT_ID), kind=OptionKind.INTEGER, required=True
)
_TEXT = CommandOption(
    name="text", descriptions=explain(MemoryWord.ABOUT_TEXT), kind=OptionKind.LINE, required=True
)
_SWITCH = CommandOption(
    name="switch", descriptions=explain(MemoryWord.ABOUT_SWITCH), choices=("on", "off")
)


class MemoryCommands:
    """Handlers over the pools of the conversation that they are given in."""

    def __init__(self, *, engine: Engine, zone: tzinfo | None = None) -> None:
        self._engine = engine
        self._pools = engine.pools
        self._zone = zone

    def table(self) -> tuple[Command, ...]:
        """The commands, in the order in which they are listed."""
        word = MemoryWord
        return (
            _command("list", word.ABOUT_LIST, self.entries),
            _command("show", word.ABOUT_SHOW, self.show, _ID),
            _command("search", word.ABOUT_SEARCH, self.search, _TEXT),
            _command("add", word.ABOUT_ADD, self.add, _TEXT),
            _command("edit", word.ABOUT_EDIT, self.edit, _ID, _TEXT),
            _command("delete", word.ABOUT_DELETE, self.delete, _ID),
            _command("pause", word.ABOUT_PAUSE, self.pause, _SWITCH),
            _command("why", word.ABOUT_WHY, self.why),
        )

    async def entries(self, request: Request) -> CommandAnswer:
        """All that holds, the newest first."""
        found = await self._pools.entries(_viewer(request))
        return self._listed(found[::-1], request.language)

    async def search(self, request: Request) -> CommandAnswer:
        """What has a word of the query, best first."""
        query = request.given(_TEXT)
        if not query:
            return _say(request, MemoryWord.NEEDS_TEXT)
        return self._listed(await self._pools.search(_viewer(request), query), request.language)

    async def show(self, request: Request) -> CommandAnswer:
        """One fact: who said it when, what it came from, what it replaced."""
        number = request.number(_ID)
        view = await self._pools.show(_viewer(request), number) if number else None
        if view is None:
            return _missing(request, number)
        language, entry = request.language, view.entry
        lines = [self._line(entry, language)]
        if entry.speaker:
            day = self._day(entry)
            name = entry.speaker.name
            lines.append(tell(MemoryWord.SAID_BY, language, name=name, day=day))
        if entry.sources:
            sources = ", ".join(f"{one.kind.value} {one.id}" for one in entry.sources)
            lines.append(tell(MemoryWord.FROM, language, sources=sources))
        lines += [
            tell(MemoryWord.BEFORE, language, text=old.content, day=self._day(old))
            for old in view.before
        ]
        return CommandAnswer(text="\n".join(lines), private=True)

    async def add(self, request: Request) -> CommandAnswer:
        """Note a fact about the person who asks."""
        text = request.given(_TEXT)
        if not text:
            return _say(request, MemoryWord.NEEDS_TEXT)
        entry = await self._pools.add(_viewer(request), text)
        self._engine.afterwork.want(request.place.session)
        return _say(request, MemoryWord.ADDED, id=entry.id, text=entry.content)

    async def edit(self, request: Request) -> CommandAnswer:
        """Correct a fact."""
        number, text = request.number(_ID), request.given(_TEXT)
        if number and not text:
            return _say(request, MemoryWord.NEEDS_TEXT)
        changed = await self._pools.edit(_viewer(request), number, text) if number else None
        if changed is None:
            return _missing(request, number)
        self._engine.afterwork.want(request.place.session)
        return _say(request, MemoryWord.CHANGED, id=number, text=changed.content)

    async def delete(self, request: Request) -> CommandAnswer:
        """Delete a fact with its history."""
        number = request.number(_ID)
        if not number or not await self._pools.delete(_viewer(request), number):
            return _missing(request, number)
        return _say(request, MemoryWord.DELETED, id=number)

    async def pause(self, request: Request) -> CommandAnswer:
        """Stop noting new facts, or resume it."""
        paused = request.given(_SWITCH) != "off"
        await self._pools.pause(request.place.session, paused=paused)
        return _say(request, MemoryWord.PAUSED if paused else MemoryWord.RESUMED)

    async def why(self, request: Request) -> CommandAnswer:
        """What of memory the last reply saw, as far as the asker may see it."""
        shown = self._engine.last_shown(request.place.session)
        seen = await self._pools.entries(_viewer(request), history=True)
        facts = [one for one in seen if one.id in shown.entries]
        language = request.language
        lines = [self._line(one, language) for one in facts]
        if lines:
            lines.insert(0, tell(MemoryWord.WHY_FACTS, language))
        if shown.snippets:
            lines.append(tell(MemoryWord.WHY_SNIPPETS, language, count=len(shown.snippets)))
        text = "\n".join(lines) or tell(MemoryWord.WHY_NOTHING, language)
        return CommandAnswer(text=text, private=True)

    def _listed(self, entries: Iterable[Entry], language: Language) -> CommandAnswer:
        found = list(entries)
        if not found:
            return CommandAnswer(text=tell(MemoryWord.NO_FACTS, language), private=True)
        lines = [self._line(one, language) for one in found[:MOST_LISTED]]
        head = tell(MemoryWord.FACTS_ARE, language, count=len(found))
        return CommandAnswer(text="\n".join([head, *lines]), private=True)

    def _line(self, entry: Entry, language: Language) -> str:
        pool = MemoryWord.LONG if entry.pool is Pool.LONG else MemoryWord.SHORT
        return f"{entry.id}  [{tell(pool, language)}] {entry.content}"

    def _day(self, entry: Entry) -> str:
        return format_minute(entry.said_at_ns, self._zone)


def _command(name: str, about: MemoryWord, handle: Handler, *options: CommandOption) -> Command:
    spec = CommandSpec(
        name=name, descriptions=explain(about), group=_GROUP, options=options, private=True
    )
    return Command(spec=spec, handle=handle)


def _viewer(request: Request) -> Viewer:
    author = request.call.author
    speaker = Speaker(person=author.person, name=author.name)
    return Viewer(session=request.place.session, speaker=speaker)


def _say(request: Request, word: MemoryWord, **values: object) -> CommandAnswer:
    return CommandAnswer(text=tell(word, request.language, **values), private=True)


def _missing(request: Request, number: int) -> CommandAnswer:
    if not number:
        return _say(request, MemoryWord.NEEDS_ID)
    return _say(request, MemoryWord.NO_SUCH_FACT, id=number)
