"""What `kith errors` asks of the running service, through the control socket."""

from collections.abc import Mapping

from bot.service.control import Arguments, Verb
from memory.tool_errors.error_memory import ErrorMemory

REMOVE = "errors.remove"


def error_verbs(errors: ErrorMemory) -> Mapping[str, Verb]:
    """`errors.remove` deletes a record; what only reads needs no service."""

    async def remove(arguments: Arguments) -> object:
        return {"id": (await errors.remove(str(arguments.get("id", "")))).id}

    return {REMOVE: remove}
