"""`/memory`: what is remembered of a person here, for that person to see and to change."""

from collections.abc import Sequence
from datetime import tzinfo

from bot.commands.registry import Command, Handler, Request
from bot.ports import CommandAnswer, CommandGroup, CommandOption, CommandSpec, OptionKind
from bot.texts.facts import format_fact, format_facts, format_origin
from bot.texts.keys import Text
from bot.texts.tables import describe, say
from memory.engine import Engine
from memory.pools.entry import Entry
from memory.pools.service import Viewer
from memory.values import Speaker

_GROUP = CommandGroup(name="memory", descriptions=describe(Text.ABOUT_MEMORY))
_ID = CommandOption(
    name="id", descriptions=describe(Text.ABOUT_MEMORY_ID), kind=OptionKind.INTEGER, required=True
)
_TEXT = CommandOption(
    name="text", descriptions=describe(Text.ABOUT_MEMORY_TEXT), kind=OptionKind.LINE, required=True
)
_SWITCH = CommandOption(
    name="switch", descriptions=describe(Text.ABOUT_MEMORY_SWITCH), choices=("on", "off")
)


class MemoryCommands:
    """Handlers over the pools of the conversation that they are given in."""

    def __init__(self, *, engine: Engine, zone: tzinfo | None = None) -> None:
        self._engine = engine
        self._pools = engine.pools
        self._zone = zone

    def table(self) -> tuple[Command, ...]:
        """The commands, in the order in which they are listed."""
        return (
            _command("list", Text.ABOUT_MEMORY_LIST, self.entries),
            _command("show", Text.ABOUT_MEMORY_SHOW, self.show, _ID),
            _command("search", Text.ABOUT_MEMORY_SEARCH, self.search, _TEXT),
            _command("add", Text.ABOUT_MEMORY_ADD, self.add, _TEXT),
            _command("edit", Text.ABOUT_MEMORY_EDIT, self.edit, _ID, _TEXT),
            _command("delete", Text.ABOUT_MEMORY_DELETE, self.delete, _ID),
            _command("pause", Text.ABOUT_MEMORY_PAUSE, self.pause, _SWITCH),
            _command("why", Text.ABOUT_MEMORY_WHY, self.why),
        )

    async def entries(self, request: Request) -> CommandAnswer:
        """All that holds, the newest first."""
        found = await self._pools.entries(_viewer(request))
        return _listed(request, found[::-1])

    async def search(self, request: Request) -> CommandAnswer:
        """What has a word of the query, best first."""
        query = request.given(_TEXT)
        if not query:
            return _say(request, Text.FACT_NEEDS_TEXT)
        return _listed(request, await self._pools.search(_viewer(request), query))

    async def show(self, request: Request) -> CommandAnswer:
        """One fact: who said it when, what it came from, what it replaced."""
        number = request.number(_ID)
        view = await self._pools.show(_viewer(request), number) if number else None
        if view is None:
            return _missing(request, number)
        text = format_origin(view, request.language, self._zone)
        return CommandAnswer(text=text, private=True)

    async def add(self, request: Request) -> CommandAnswer:
        """Note a fact about the person who asks."""
        text = request.given(_TEXT)
        if not text:
            return _say(request, Text.FACT_NEEDS_TEXT)
        entry = await self._pools.add(_viewer(request), text)
        self._engine.afterwork.enqueue(request.place.session)
        return _say(request, Text.FACT_ADDED, id=entry.id, text=entry.content)

    async def edit(self, request: Request) -> CommandAnswer:
        """Correct a fact."""
        number, text = request.number(_ID), request.given(_TEXT)
        if number and not text:
            return _say(request, Text.FACT_NEEDS_TEXT)
        changed = await self._pools.edit(_viewer(request), number, text) if number else None
        if changed is None:
            return _missing(request, number)
        self._engine.afterwork.enqueue(request.place.session)
        return _say(request, Text.FACT_CHANGED, id=number, text=changed.content)

    async def delete(self, request: Request) -> CommandAnswer:
        """Delete a fact with its history."""
        number = request.number(_ID)
        if not number or not await self._pools.delete(_viewer(request), number):
            return _missing(request, number)
        return _say(request, Text.FACT_DELETED, id=number)

    async def pause(self, request: Request) -> CommandAnswer:
        """Stop noting new facts, or resume it."""
        paused = request.given(_SWITCH) != "off"
        await self._pools.pause(request.place.session, paused=paused)
        return _say(request, Text.NOTING_PAUSED if paused else Text.NOTING_RESUMED)

    async def why(self, request: Request) -> CommandAnswer:
        """What of memory the last reply saw, as far as the asker may see it."""
        shown = self._engine.last_shown(request.place.session)
        seen = await self._pools.entries(_viewer(request), history=True)
        facts = [one for one in seen if one.id in shown.entries]
        language = request.language
        lines = [format_fact(one, language) for one in facts]
        if lines:
            lines.insert(0, say(Text.WHY_FACTS, language))
        if shown.snippets:
            lines.append(say(Text.WHY_SNIPPETS, language, count=len(shown.snippets)))
        text = "\n".join(lines) or say(Text.WHY_NOTHING, language)
        return CommandAnswer(text=text, private=True)


def _command(name: str, about: Text, handle: Handler, *options: CommandOption) -> Command:
    spec = CommandSpec(
        name=name, descriptions=describe(about), group=_GROUP, options=options, private=True
    )
    return Command(spec=spec, handle=handle)


def _viewer(request: Request) -> Viewer:
    author = request.call.author
    speaker = Speaker(person=author.person, name=author.name)
    return Viewer(session=request.place.session, speaker=speaker)


def _listed(request: Request, entries: Sequence[Entry]) -> CommandAnswer:
    return CommandAnswer(text=format_facts(entries, request.language), private=True)


def _say(request: Request, text: Text, /, **blanks: object) -> CommandAnswer:
    return CommandAnswer(text=say(text, request.language, **blanks), private=True)


def _missing(request: Request, number: int) -> CommandAnswer:
    if not number:
        return _say(request, Text.FACT_NEEDS_ID)
    return _say(request, Text.NO_SUCH_FACT, id=number)
