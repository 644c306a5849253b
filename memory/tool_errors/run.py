"""A tool call that is over, as it is kept for a few days."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRun:
    """One run."""

    tool: str
    arguments: str
    """JSON, shortened."""
    result: str
    """What the model was told, shortened."""
    failed: bool
    ran_at_ns: int
    elapsed_ms: int
    number: int = 0
    """Its row; 0 before it has one."""
