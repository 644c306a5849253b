import asyncio

import pytest

from adapters.embedded.runtime import open_runtime
from adapters.embedded.store import Store, default_models_dir
from adapters.embedded.weights import find

TINY_CONTEXT_TOKENS = 2048


def pytest_configure():
    # looptime asks for the current loop before each test, plain ones too, and would thereby make
    # one that nobody closes; saying that there is none makes it look elsewhere.
    asyncio.set_event_loop(None)


@pytest.fixture(scope="session")
def tiny_path():
    """The file of the tiny model. Tests never download it."""
    weights, store = find("tiny"), Store(models_dir=default_models_dir())
    if not store.has(weights):
        pytest.fail("the tiny model is missing; run: kith model get tiny")
    return store.path(weights)


@pytest.fixture(scope="session")
def tiny_runtime(tiny_path):
    """The tiny model, loaded once for the whole session; it belongs to no test's loop."""
    # With a factory of its own the runner leaves the current loop alone.
    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
        opening = open_runtime(tiny_path, context_tokens=TINY_CONTEXT_TOKENS)
        yield runner.run(opening.__aenter__())
        runner.run(opening.__aexit__(None, None, None))
