"""Twenty conversations at once over both platforms, with everything going wrong that does."""

from tests.e2e.harness import open_world, running, until
from tests.wire.telegram_values import drop_before, private, server_error, too_many

MESSAGES = 10
EXPECTED = [f"re: message {n}" for n in range(MESSAGES)]


def trouble_telegram(server, people):
    server.fail("getUpdates", server_error(), drop_before())
    server.fail(
        "sendMessage",
        too_many(1, chat=people[0].id),
        server_error(chat=people[1].id),
        drop_before(chat=people[2].id),
    )


def trouble_discord(server, users):
    paths = [f"/channels/{server.world.direct(user).id}/messages" for user in users]
    server.rest.limit("POST", paths[0], retry_after_s=0.5)
    server.rest.fail("POST", paths[1], status=500)
    server.rest.drop("POST", paths[2])
    server.rest.drop("POST", paths[3], late=True)


def say_all(world, people, users, numbers):
    for n in numbers:
        for person in people:
            world.telegram.say(private(person), person, f"message {n}")
        for user in users:
            message = world.discord.dm(user, f"message {n}")
            if n % 3 == 0:
                world.discord.redeliver(message)


def say_out_of_order(world, person, user):
    """Two updates that change places on the way, and two events that do."""
    for text in ("younger", "older"):
        world.telegram.say(private(person), person, text)
    world.telegram._updates[-2:] = world.telegram._updates[:-3:-1]
    channel = world.discord.world.direct(user)
    said = [world.discord.world.message(channel, user, text) for text in ("younger", "older")]
    for message in reversed(said):
        world.discord.gateway.deliver(message)


def telegram_texts(world, person):
    return [sent.text for sent in world.telegram.sent_now(person.id)]


def discord_texts(world, user):
    channel = world.discord.world.direct(user)
    return [message["content"] for message in world.discord.posted(channel)]


def answers(world, people, users):
    return [telegram_texts(world, one) for one in people] + [
        discord_texts(world, one) for one in users
    ]


async def test_every_message_is_answered_once_and_in_order_whatever_goes_wrong(tmp_path):
    async with open_world(tmp_path) as world:
        [*people, odd_person], [*users, odd_user] = world.people(11)
        async with running(world) as process:
            trouble_telegram(world.telegram, people)
            trouble_discord(world.discord, users)
            say_all(world, people, users, range(2))
            first = min(world.telegram._history)
            world.telegram.repeat(first)
            world.telegram.push(message={"message_id": 1})
            world.telegram.push(shape_of_the_future={"text": "?"})
            await until(lambda: all(discord_texts(world, user) for user in users))
            say_all(world, people, users, range(2, 5))
            say_out_of_order(world, odd_person, odd_user)
            world.discord.malformed(world.discord.world.direct(users[0]))
            await until(lambda: all(len(discord_texts(world, user)) >= 4 for user in users))
            world.discord.gateway.rewind = 7
            world.discord.gateway.kill()
            say_all(world, people, users, range(5, MESSAGES))
            world.telegram.repeat(first)

            def all_there():
                return all(len(texts) >= MESSAGES for texts in answers(world, people, users))

            await until(all_there, what=lambda: str(answers(world, people, users)))

            def odd_there():
                return all(len(texts) >= 2 for texts in answers(world, [odd_person], [odd_user]))

            await until(odd_there)
            await process.logged("service.ready")

        # Nobody can tell that what comes first was written second: each once, as they came.
        assert answers(world, [odd_person], [odd_user]) == [["re: older", "re: younger"]] * 2
        assert answers(world, people, users) == [EXPECTED] * 20
        assert world.discord.gateway.resumes >= 1
        assert sum(said.startswith("message") for said in world.echo.asked) == 20 * MESSAGES
        assert "message 3" not in process.log
