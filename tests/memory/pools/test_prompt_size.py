"""How long a prompt of pools mode is, early and late in a talk. The pools are filled as the passes would."""

from memory.pools.entry import CONTENT_CHARS, Pool, Tag
from memory.values import Mode
from tests.fakes import NOON_NS
from tests.memory.modes.test_modes import a_talk
from tests.memory.pools.stage import entry, put

FACTS = (
    "Anna's sister number {n} lives in Kaohsiung and teaches piano at a school.",
    "Anna 下個月要去第{n}個城市出差，會待三天，回來還要寫報告給主管看。",
    "Anna started learning Spanish and found lesson {n} hard.",
    "Anna 養了一隻叫麻糬{n}號的貓，很黏人，每天早上都要人陪牠玩。",
)
QUESTIONS = (
    "What should I cook tonight?",
    "今天台北會下雨嗎？",
    "How is my sister?",
    "我的貓叫什麼名字？",
    "Hi!",
    "謝謝你～",
    "Which Spanish lesson was hard?",
    "我下個月要去哪裡？",
    "Where did I live before?",
    "一開始我養了什麼？",
)
TOLD = 0.4
"""Of the turns, those that bring a fact."""
BATCH, LEFT = 15, 2
"""Refining makes so few of so many."""


def pools_after(turns):
    """What the passes leave in the pools of a talk of so many turns."""
    said = [
        entry(FACTS[n % len(FACTS)].format(n=n), said_at_ns=NOON_NS + n * 10**9)
        for n in range(int(turns * TOLD))
    ]
    refined = max(len(said) - 5, 0) // BATCH * BATCH
    for number, one in enumerate(said[:refined]):
        if number % BATCH < LEFT:
            yield entry(one.content, pool=Pool.LONG, tag=Tag.REFINED, said_at_ns=one.said_at_ns)
    yield from said[refined:]


async def sizes(directory, *entries):
    """Tokens of the prompts that the questions are answered from."""
    directory.mkdir()
    async with a_talk(directory, Mode.POOLS) as talk:
        await talk.engine.pools.pause("cli-room", paused=False)
        await put(talk.database, *entries)
        return [(await talk.compose(question))[1].prompt.tokens for question in QUESTIONS]


async def test_at_turn_2000_a_prompt_is_as_long_as_at_turn_200_within_a_twentieth(tmp_path):
    early = sum(await sizes(tmp_path / "early", *pools_after(200)))
    late = sum(await sizes(tmp_path / "late", *pools_after(2_000)))

    assert abs(late - early) <= early * 0.05


async def test_five_facts_of_the_longest_are_the_most_that_a_prompt_holds(tmp_path):
    def longest(count, pool):
        return [entry("貓" * (CONTENT_CHARS * 2), pool=pool) for _ in range(count)]

    bound = await sizes(tmp_path / "five", *longest(3, Pool.LONG), *longest(2, Pool.SHORT))
    many = await sizes(tmp_path / "many", *longest(300, Pool.LONG), *longest(20, Pool.SHORT))
    usual = await sizes(tmp_path / "usual", *pools_after(2_000))

    assert many == bound
    assert all(one <= most for one, most in zip(usual, bound, strict=True))
