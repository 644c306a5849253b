"""What can go wrong in the service, as one tree below `memory.errors.KithError`.

KithError
├── ConfigError             the configuration cannot be used: every problem at once (exit 78)
├── UsageError              the command line asks for something that cannot be (exit 2)
├── DataDirLocked           another process owns the data directory
├── DataDirUnusable         the data directory cannot be made or written
├── ServiceNotRunning       no service owns the data directory, or it does not answer
├── ControlRefused          the running service does not do what it was asked
├── NoAdapterLeft           no platform can be used: no token, or none that is accepted (exit 78)
├── RootTaskEnded           a part of the service that runs for ever came to an end
├── LaneFull                a session has more waiting than it may
├── TurnStopped             a person stopped the answer while it was being written
├── JobBusy                 the job is running already
├── ToolFailed              a tool could not do it; the text is for the model
├── AdapterError            a platform adapter cannot go on
│   ├── LoginRefused        the platform does not accept the token or the rights (final)
│   ├── PollingConflict     another process reads the same bot's updates
│   └── PlatformUnreachable the platform did not answer; trying again helps
└── SendError               one message could not be delivered
    ├── SendRefused         it never will be: blocked, removed, no rights (final)
    ├── SendDeferred        the platform asks to wait
    └── SendUnknown         it may or may not have arrived
"""

from collections.abc import Sequence
from dataclasses import dataclass

from memory.errors import KithError


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing wrong with the configuration."""

    key: str
    """Dotted, as in the file: `ollama.num_ctx`; empty for the file as a whole."""
    what: str


class ConfigError(KithError):
    """The configuration cannot be used; it holds every problem that was found."""

    def __init__(self, source: str, problems: Sequence[Problem]) -> None:
        lines = [f"{p.key}: {p.what}" if p.key else p.what for p in problems]
        super().__init__("\n".join([f"{source} cannot be used:", *(f"  {line}" for line in lines)]))
        self.source = source
        self.problems = tuple(problems)


class UsageError(KithError):
    """The command line asks for something that cannot be."""


class DataDirLocked(KithError):
    """Another process owns the data directory."""


class DataDirUnusable(KithError):
    """The data directory cannot be made or written."""


class ServiceNotRunning(KithError):
    """No service owns the data directory, or it does not answer."""


class ControlRefused(KithError):
    """The running service does not do what it was asked; the text says why."""


class NoAdapterLeft(KithError):
    """No platform can be used; starting again does not help."""

    def __init__(self, reasons: Sequence[str]) -> None:
        super().__init__("\n".join(["no platform is left to run on:", *reasons]))
        self.reasons = tuple(reasons)


class RootTaskEnded(KithError):
    """A part of the service that runs for ever came to an end; a restart mends it."""


class LaneFull(KithError):
    """The session has as many messages waiting as it may have."""


class TurnStopped(KithError):
    """A person stopped the answer while it was being written."""


class JobBusy(KithError):
    """The job is running already; it never overlaps itself."""


class ToolFailed(KithError):
    """A tool could not do what the model asked; the text says why, for the model."""


class AdapterError(KithError):
    """A platform adapter cannot go on."""


class LoginRefused(AdapterError):
    """The platform does not accept the token, or not with the rights it needs: final."""


class PollingConflict(AdapterError):
    """Another process reads the same bot's updates."""


class PlatformUnreachable(AdapterError):
    """The platform did not answer; trying again helps."""


class SendError(KithError):
    """One message could not be delivered."""


class SendRefused(SendError):
    """It will never be delivered: blocked, removed, no rights."""


class SendDeferred(SendError):
    """The platform asks to wait."""

    def __init__(self, *, retry_after_s: float) -> None:
        super().__init__(f"the platform asks to wait {retry_after_s:.1f} s")
        self.retry_after_s = retry_after_s


class SendUnknown(SendError):
    """The connection broke between sending and the answer: it may or may not have arrived."""
