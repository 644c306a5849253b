"""Token counts: an estimate by script, corrected by what the model itself reports."""

from memory.language.text import estimate_tokens
from memory.ports import ChatMessage

MESSAGE_OVERHEAD_TOKENS = 5
"""Role markers round each message; ChatML, the most common template, takes 5."""

_LEARNING = 0.3
_LOWEST, _HIGHEST = 0.6, 2.0
_TOO_SHORT_TOKENS = 50


class TokenMeter:
    """Counts for one model; it gets better with every reply that reports its prompt's size."""

    def __init__(self) -> None:
        self.ratio = 1.0
        """Reported over estimated, smoothed; kept within 0.6 and 2."""

    def count(self, text: str) -> int:
        """About how many tokens the model makes of it."""
        return int(estimate_tokens(text) * self.ratio) + 1 if text else 0

    def count_message(self, message: ChatMessage) -> int:
        """The same for a message of a prompt, with its role markers."""
        return self.count(message.text) + MESSAGE_OVERHEAD_TOKENS

    def learn(self, *, estimated_tokens: int, reported_tokens: int | None) -> None:
        """Take what the model counted for a prompt that was estimated with this meter.

        Short prompts teach nothing (the template weighs too much), and a model that reports less
        than half has counted without its cached part.
        """
        if reported_tokens is None or estimated_tokens < _TOO_SHORT_TOKENS:
            return
        if reported_tokens * 2 < estimated_tokens:
            return
        seen = self.ratio * reported_tokens / estimated_tokens
        mixed = self.ratio + _LEARNING * (seen - self.ratio)
        self.ratio = min(max(mixed, _LOWEST), _HIGHEST)
