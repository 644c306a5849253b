import asyncio


def pytest_configure():
    # looptime asks for the current loop before each test, plain ones too, and would thereby make
    # one that nobody closes; saying that there is none makes it look elsewhere.
    asyncio.set_event_loop(None)
