"""The command `/admin errors`: what went wrong with tools, and taking a record away."""

from collections.abc import Awaitable, Callable
from datetime import tzinfo

from bot.commands.admin import GROUP
from bot.commands.registry import Command, Request
from bot.ports import CommandAnswer, CommandOption, CommandSpec
from bot.texts.words import Language
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
    descriptions={
        "en": "The record to show, as the list has it",
        "zh-TW": "要顯示的紀錄代號，可由清單查到",
    },
)
WHAT = CommandOption(
    name="what",
    descriptions={"en": "remove: delete this record", "zh-TW": "remove：刪除這筆紀錄"},
    choices=(REMOVE,),
)
SPEC = CommandSpec(
    name="errors",
    descriptions={
        "en": "Show what went wrong with tools, and what helped",
        "zh-TW": "顯示工具出過的錯誤與解法",
    },
    group=GROUP,
    options=(WHAT, RECORD),
    private=True,
    admin_only=True,
    beyond=True,
)

_TEXTS = {
    Language.ENGLISH: {
        "none": "No tool errors are on record.",
        "removed": "Removed: {id}",
        "which": "Which one? Give the id of a record.",
        "unknown": "There is no single record {id!r}.",
    },
    Language.CHINESE: {
        "none": "目前沒有工具錯誤的紀錄。",
        "removed": "已刪除：{id}",
        "which": "要刪除哪一筆？請給紀錄代號。",
        "unknown": "找不到唯一的紀錄 {id!r}。",
    },
}


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
        texts = _TEXTS[request.language]
        id_ = request.given(RECORD)
        removing = request.given(WHAT) == REMOVE
        if not id_:
            text = texts["which"] if removing else await self._list() or texts["none"]
            return CommandAnswer(text=text, private=True)
        try:
            if not removing:
                return CommandAnswer(text=self._told(await self._errors.read(id_)), private=True)
            gone = await self._errors.remove(id_)
        except NoSuchRecord:
            return CommandAnswer(text=texts["unknown"].format(id=id_), private=True)
        await self._record(request.call.author.person, "error removed", gone.id)
        return CommandAnswer(text=texts["removed"].format(id=gone.id[:_SHORT]), private=True)

    async def _list(self) -> str:
        found = await self._errors.newest(limit=MOST_LISTED)
        return "\n".join(
            clip(f"{one.id[:_SHORT]}  {one.tool}  {one.outcome}  {one.symptom}", _LINE_CHARS)
            for one in found
        )

    def _told(self, one: ErrorRecord) -> str:
        head = f"{one.id[:_SHORT]}  {one.tool}  {format_second(one.written_at_ns, self._zone)}"
        cause = [one.cause] if one.cause else []
        return "\n".join([head, one.symptom, *cause, f"{one.outcome}: {one.action}"])
