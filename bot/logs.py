"""Logging: one event, one line, on stderr; JSON off a terminal, readable on one.

Message text is never logged, at any level, and secrets are blotted out wherever they turn up.
"""

import logging
from collections.abc import Sequence
from typing import Any, TextIO

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from bot.ports import Secret

QUIET = ("httpx", "httpcore", "telegram", "discord", "aiosqlite", "apscheduler", "asyncio")
"""Libraries whose INFO lines hold URLs with tokens, or say nothing that an operator can use."""


def configure(*, level: str, stream: TextIO, secrets: Sequence[Secret] = ()) -> None:
    """Send everything, the libraries' lines included, to one stream in one form."""
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
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
    for name in QUIET:
        logging.getLogger(name).setLevel(max(logging.WARNING, root.level))


def _rendering(stream: TextIO, secrets: Sequence[str]) -> list[Processor]:
    blot = _Blot(secrets)
    if stream.isatty():
        # Plain tracebacks: the coloured ones print local variables, which hold what people said.
        plain = structlog.dev.plain_traceback
        return [blot, structlog.dev.ConsoleRenderer(exception_formatter=plain)]
    return [
        structlog.processors.format_exc_info,
        blot,
        structlog.processors.JSONRenderer(ensure_ascii=False),
    ]


class _Blot:
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
