"""A talk with a scripted model and tools of a test's own, over a real engine and database."""

from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from bot.ports import ChatKind
from bot.texts.language import Language, language_of
from bot.turn.interface import Tool, TurnContext
from bot.turn.registry import Toolbox
from bot.turn.running import no_advice
from bot.turn.talking import Tooling, keep_nothing
from bot.turn.turns import TurnEngine
from memory.database.database import open_database
from memory.engine import open_engine
from memory.ports import Completion, Models, ToolCall
from memory.settings import MemorySettings
from memory.values import Mode, NewMessage, PersonId, Role, SessionId, Speaker
from tests.fakes import FakeChatModel, FakeClock

ANN = Speaker(person=PersonId("telegram:7"), name="Ann")


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    words: str = ""
    count: int = 1


def tool(run, name="probe", *, arguments=Words, **more):
    labels = {Language.ENGLISH: f"running {name}", Language.CHINESE: f"執行 {name}"}
    return Tool(
        name=name,
        description="A probe.",
        arguments=arguments,
        run=run,
        labels=labels,
        **more,
    )


def asks(*calls, text=""):
    """A model's answer that asks for tools: names with arguments."""
    return Completion(
        text=text, tool_calls=tuple(ToolCall(name=name, arguments=given) for name, given in calls)
    )


@dataclass
class Watched:
    """A draft that keeps what was shown."""

    text: str = ""
    statuses: list[str] = field(default_factory=list)

    async def show(self, text):
        self.text += text

    async def status(self, text):
        self.statuses.append(text)


@dataclass
class Stage:
    turns: TurnEngine
    model: FakeChatModel
    clock: FakeClock
    draft: Watched
    database: object

    async def ask(self, text, *, session="telegram-7", group=False, mode=Mode.FULL):
        self.clock.advance(1)
        entry = NewMessage(role=Role.USER, text=text, sent_at_ns=self.clock.now_ns(), speaker=ANN)
        context = TurnContext(
            session=SessionId(session),
            kind=ChatKind.GROUP if group else ChatKind.DIRECT,
            mode=mode,
            speaker=ANN,
            language=language_of(text),
        )
        return await self.turns.answer(context, entry, self.draft)

    def told(self, request=-1):
        """Texts of the tool results in a request."""
        return [m.text for m in self.model.requests[request].messages if m.role == "tool"]


@asynccontextmanager
async def open_stage(
    directory, tools, replies, *, advise=no_advice, limits=None, keep=keep_nothing
):
    model = replies if hasattr(replies, "stream") else FakeChatModel(replies, limits=limits)
    clock = FakeClock()
    async with open_database(directory / "kith.db") as database:
        async with open_engine(
            database=database,
            models=Models(chat=model, summary=model, extract=model),
            directory=directory,
            settings=MemorySettings(),
            clock=clock,
        ) as engine:
            tooling = (
                tools(database, clock)
                if callable(tools)
                else Tooling(toolbox=Toolbox(tools), advise=advise, keep=keep)
            )
            turns = TurnEngine(engine=engine, chat=model, clock=clock, tooling=tooling)
            yield Stage(turns, model, clock, Watched(), database)
