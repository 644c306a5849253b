"""Logging: one event, one line, on stderr; JSON off a terminal, readable on one.

Message text is never logged, at any level, and secrets are blotted out wherever they turn up.
"""

import logging
import sys
import traceback
from collections.abc import Sequence
from typing import Any, TextIO

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from bot.ports import Secret
from memory.errors import KithError

QUIET = ("httpx", "httpcore", "aiosqlite", "asyncio")
"""Libraries whose INFO lines hold URLs with tokens, or say nothing that an operator can use; a
platform's manifest names those that are its own."""


def configure(
    *,
    level: str,
    stream: TextIO,
    secrets: Sequence[Secret] = (),
    quiet: Sequence[str],
    troubles: Processor | None = None,
) -> None:
    """Send everything to one stream in one form; `quiet` loggers are kept at WARNING, as `QUIET`."""
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[
            *shared,
            *([troubles] if troubles else []),
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(stream)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                *_rendering(stream, [secret.reveal() for secret in secrets]),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level.upper())
    for name in (*QUIET, *quiet):
        logging.getLogger(name).setLevel(max(logging.WARNING, root.level))


def _rendering(stream: TextIO, secrets: Sequence[str]) -> list[Processor]:
    redaction = _Redaction(secrets)
    if stream.isatty():
        return [_wordless, redaction, structlog.dev.ConsoleRenderer()]
    return [
        _wordless,
        redaction,
        structlog.processors.JSONRenderer(ensure_ascii=False),
    ]


def _wordless(_logger: WrappedLogger, _name: str, event: EventDict) -> EventDict:
    """Format an exception by its type and its place in the code.

    What a library puts into its exceptions can be what a person said: a value that does not fit, a
    text that cannot be encoded. Our own errors never hold that.
    """
    raised = event.pop("exc_info", None)
    if raised is True:
        raised = sys.exc_info()
    error = raised[1] if isinstance(raised, tuple) else raised
    if isinstance(error, BaseException):
        event["exception"] = "\n".join(_traceback(error))
    return event


def _traceback(error: BaseException) -> list[str]:
    """Where an exception came from, and those behind it, the first cause first."""
    lines: list[str] = []
    chain: list[BaseException] = []
    at: BaseException | None = error
    while at is not None and at not in chain:
        chain.append(at)
        at = at.__cause__ or (None if at.__suppress_context__ else at.__context__)
    for one in reversed(chain):
        lines += [line.rstrip() for line in traceback.format_tb(one.__traceback__)]
        lines.append(
            f"{type(one).__name__}: {one}" if isinstance(one, KithError) else type(one).__name__
        )
        if isinstance(one, BaseExceptionGroup):
            lines += [f"  {line}" for part in one.exceptions for line in _traceback(part)]
    return lines


class _Redaction:
    """Replaces secrets in every string of an event."""

    def __init__(self, secrets: Sequence[str]) -> None:
        self._secrets = [secret for secret in secrets if secret]

    def __call__(self, _logger: WrappedLogger, _name: str, event: EventDict) -> EventDict:
        return {key: self._clean(value) for key, value in event.items()}

    def _clean(self, value: Any) -> Any:  # noqa: ANN401 - an event may hold anything
        if not isinstance(value, str):
            return value
        for secret in self._secrets:
            value = value.replace(secret, "***")
        return value
