"""The command `/admin errors`: what went wrong with tools, and taking a record away."""

from collections.abc import Awaitable, Callable
from datetime import tzinfo

from bot.commands.admin import GROUP
from bot.commands.registry import Command, Request
from bot.ports import CommandAnswer, CommandOption, CommandSpec
from bot.texts.keys import Text
from bot.texts.tables import describe, say
from memory.errors import NoSuchRecord
from memory.language.text import clip
from memory.language.times import format_second
from memory.tool_errors.error_memory import ErrorMemory
from memory.tool_errors.record import ErrorRecord
from memory.values import PersonId

REMOVE = "remove"
MOST_LISTED = 20
_SHORT = 12
_LINE_CHARS = 160

RECORD = CommandOption(
    name="id",
    descriptions=describe(Text.ABOUT_ERRORS_ID),
)
WHAT = CommandOption(
    name="what",
    descriptions=describe(Text.ABOUT_ERRORS_WHAT),
    choices=(REMOVE,),
)
SPEC = CommandSpec(
    name="errors",
    descriptions=describe(Text.ABOUT_ERRORS),
    group=GROUP,
    options=(WHAT, RECORD),
    private=True,
    admin_only=True,
    beyond=True,
)


class ErrorsCommand:
    """Its handler, over the error memory; what it removes is written down."""

    def __init__(
        self,
        errors: ErrorMemory,
        *,
        zone: tzinfo | None,
        record: Callable[[PersonId, str, str], Awaitable[None]],
    ) -> None:
        self._errors = errors
        self._zone = zone
        self._record = record

    def table(self) -> tuple[Command, ...]:
        """The command, ready for the registry."""
        return (Command(spec=SPEC, handle=self.handle),)

    async def handle(self, request: Request) -> CommandAnswer:
        """List the records, show one, or remove one."""
        language, id_ = request.language, request.given(RECORD)
        removing = request.given(WHAT) == REMOVE
        if not id_ and removing:
            return CommandAnswer(text=say(Text.ERROR_NEEDS_ID, language), private=True)
        if not id_:
            text = await self._list() or say(Text.NO_ERRORS, language)
            return CommandAnswer(text=text, private=True)
        try:
            if not removing:
                return CommandAnswer(text=self._format(await self._errors.read(id_)), private=True)
            removed = await self._errors.remove(id_)
        except NoSuchRecord:
            return CommandAnswer(text=say(Text.NO_SUCH_ERROR, language, id=id_), private=True)
        await self._record(request.call.author.person, "error removed", removed.id)
        text = say(Text.ERROR_REMOVED, language, id=removed.id[:_SHORT])
        return CommandAnswer(text=text, private=True)

    async def _list(self) -> str:
        found = await self._errors.newest(limit=MOST_LISTED)
        return "\n".join(
            clip(f"{one.id[:_SHORT]}  {one.tool}  {one.outcome}  {one.symptom}", _LINE_CHARS)
            for one in found
        )

    def _format(self, one: ErrorRecord) -> str:
        head = f"{one.id[:_SHORT]}  {one.tool}  {format_second(one.written_at_ns, self._zone)}"
        cause = [one.cause] if one.cause else []
        return "\n".join([head, one.symptom, *cause, f"{one.outcome}: {one.action}"])
