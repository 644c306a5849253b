"""Time from a person's message to the first thing that they see (typing), without the model.

    python benchmarks/reaction.py [--rounds 5]

The service runs as a process of its own, against servers on loopback that speak the platforms'
protocols; each chat sends one message a round, all at once.
"""

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.e2e.harness import World, open_world, running, until
from tests.wire.discord_world import User
from tests.wire.telegram_values import Person, private

CHATS = (1, 10, 50)
PAUSE_S = 3.2
"""Between rounds: Telegram's own limit is one message a second in a chat."""


def percentile(samples: Sequence[float], share: float) -> float:
    """The smallest sample that this share of all is not above."""
    ordered = sorted(samples)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


async def telegram_round(world: World, people: Sequence[Person]) -> list[float]:
    """Milliseconds to the first sign in each chat."""
    server = world.telegram
    said_s: dict[int, float] = {}
    first_ms: dict[int, float] = {}
    seen = len(server.calls)
    for person in people:
        said_s[person.id] = time.monotonic()
        server.say(private(person), person, "hello")

    def all_seen() -> bool:
        for call in server.calls[seen:]:
            chat = call.params.get("chat_id")
            if chat is not None and int(chat) not in first_ms:
                first_ms[int(chat)] = (call.at_s - said_s[int(chat)]) * 1_000
        return len(first_ms) == len(people)

    await until(all_seen, what="a sign in every chat")
    return list(first_ms.values())


async def discord_round(world: World, users: Sequence[User]) -> list[float]:
    """Milliseconds to the first sign in each chat."""
    server = world.discord
    channels = {server.world.direct(user).id: user for user in users}
    said_s: dict[str, float] = {}
    first_ms: dict[str, float] = {}
    seen = len(server.rest.requests)
    for channel, user in channels.items():
        said_s[channel] = time.monotonic()
        server.dm(user, "hello")

    def all_seen() -> bool:
        for one in server.rest.requests[seen:]:
            channel = one.path.split("/")[2] if one.path.startswith("/channels/") else ""
            if one.method == "POST" and channel in said_s and channel not in first_ms:
                first_ms[channel] = (one.at_s - said_s[channel]) * 1000
        return len(first_ms) == len(users)

    await until(all_seen, what="a sign in every chat")
    return list(first_ms.values())


async def measure(rounds: int) -> None:
    """Print a table."""
    with tempfile.TemporaryDirectory() as directory:
        async with open_world(Path(directory)) as world:
            people, users = world.people(max(CHATS))
            async with running(world):
                print(f"{'platform':10}{'chats':>6}{'p50 ms':>9}{'p95 ms':>9}")
                for chats in CHATS:
                    for name, run, who in (
                        ("telegram", telegram_round, people[:chats]),
                        ("discord", discord_round, users[:chats]),
                    ):
                        samples = []
                        for _ in range(rounds):
                            samples += await run(world, who)
                            await asyncio.sleep(PAUSE_S)
                        middle = statistics.median(samples)
                        print(f"{name:10}{chats:>6}{middle:>9.1f}{percentile(samples, 0.95):>9.1f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    asyncio.run(measure(parser.parse_args().rounds))
