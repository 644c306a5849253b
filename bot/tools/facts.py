"""The tools `remember` and `forget_fact`: the speaker's own facts, kept or deleted on request.

Whose facts they are comes from the platform. The model can neither write for another person nor
take anything from one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from bot.errors import ToolFailed
from bot.texts.keys import Text
from bot.texts.tables import describe
from bot.turn.interface import AnyTool, Tool, TurnContext
from memory.errors import EntryInvalid
from memory.pools.entry import Entry, Pool
from memory.pools.service import PoolService, Viewer
from memory.values import Mode

POOL_MODES = frozenset({Mode.FULL, Mode.POOLS})
REMEMBER, FORGET_FACT = "remember", "forget_fact"
_OFFERED = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class RememberArguments:
    """A fact about the speaker."""

    fact: Annotated[
        str,
        Field(description="One short sentence about the person who asks, in their language."),
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetArguments:
    """Which fact is meant."""

    words: Annotated[str | None, Field(description="Words of the fact.")] = None
    id: Annotated[int | None, Field(description="Its id, where several fit the words.")] = None


def fact_tools(pools: PoolService) -> tuple[AnyTool, ...]:
    """Both tools."""
    return _remember(pools), _forget_fact(pools)


def _remember(pools: PoolService) -> AnyTool:
    async def run(context: TurnContext, arguments: RememberArguments) -> str:
        viewer = _viewer(context)
        if (await pools.state(context.session)).paused:
            raise ToolFailed("not kept: remembering is paused in this conversation")
        try:
            entry = await _same(pools, viewer, arguments.fact) or await pools.add(
                viewer, arguments.fact
            )
        except EntryInvalid as error:
            raise ToolFailed(f"invalid parameter 'fact': {error}") from error
        return f"remembered as {entry.id}"

    return Tool(
        name=REMEMBER,
        description="Keep a lasting fact about the person who writes, when they ask for it.",
        arguments=RememberArguments,
        run=run,
        labels=describe(Text.RUNS_REMEMBER),
        modes=POOL_MODES,
    )


async def _same(pools: PoolService, viewer: Viewer, fact: str) -> Entry | None:
    """The speaker's lasting fact that says just this: a model, or a turn begun anew, asks twice."""
    person = viewer.speaker.person if viewer.speaker else None
    normalised = " ".join(fact.casefold().split())
    for one in await pools.entries(viewer):
        kept = " ".join(one.content.casefold().split())
        if (one.owner, one.pool, kept) == (person, Pool.LONG, normalised):
            return one
    return None


def _forget_fact(pools: PoolService) -> AnyTool:
    async def run(context: TurnContext, arguments: ForgetArguments) -> str:
        viewer = _viewer(context)
        own = await _meant(pools, viewer, arguments)
        if not own:
            return "There is no such fact of theirs."
        if len(own) > 1:
            return "Several fit; give the id of one:\n" + "\n".join(_line(one) for one in own)
        await pools.delete(viewer, own[0].id)
        return f"forgotten: {own[0].content}"

    return Tool(
        name=FORGET_FACT,
        description="Forget a fact that the person who writes wants forgotten.",
        arguments=ForgetArguments,
        run=run,
        labels=describe(Text.RUNS_FORGET_FACT),
        modes=POOL_MODES,
    )


async def _meant(pools: PoolService, viewer: Viewer, arguments: ForgetArguments) -> Sequence[Entry]:
    """The speaker's own facts that are meant; the group's are not theirs to take."""
    if arguments.id is not None:
        found = [one for one in await pools.entries(viewer) if one.id == arguments.id]
    elif (arguments.words or "").strip():
        found = await pools.search(viewer, arguments.words or "", limit=_OFFERED)
    else:
        raise ToolFailed("required parameter 'words' is missing (or 'id')")
    person = viewer.speaker.person if viewer.speaker else None
    return [one for one in found if one.owner == person]


def _viewer(context: TurnContext) -> Viewer:
    if context.speaker is None:
        raise ToolFailed("nobody is known to speak here")
    return Viewer(session=context.session, speaker=context.speaker)


def _line(entry: Entry) -> str:
    return f"{entry.id}: {entry.content}"
