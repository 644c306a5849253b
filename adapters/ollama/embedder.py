"""An embedder behind an Ollama server.

Every answer is checked before it may become a stored vector: how many rows, how long, all numbers.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import numpy as np
import ollama
import structlog

from adapters.calls import ModelCalls
from adapters.ollama.connection import open_client
from adapters.ollama.deadline import deadline
from adapters.ollama.errors import translated
from adapters.ollama.options import OllamaOptions
from adapters.ollama.translate import keep_alive
from memory.errors import ModelAnswerInvalid, ModelRefused
from memory.language.text import scrub
from memory.ports import Priority, Vectors

log = structlog.get_logger(__name__)

BATCH_TEXTS = 32
"""Texts in one call: a person waits at most for one batch, and a lost call loses no more."""
_BLANK = "."
"""Stands for a text without a visible character: some models make no token of it and fail."""
_SHORTEST_CHARS = 64
"""A text is not halved below this: refused there, length is not the reason."""


@asynccontextmanager
async def open_embedder(
    options: OllamaOptions, calls: ModelCalls
) -> AsyncIterator["OllamaEmbedder"]:
    """An embedder, connected on first use. `calls` are those of its model.

    Raises:
        ModelUnreachable: the address is not one.
    """
    async with open_client(options) as client:
        yield OllamaEmbedder(options=options, client=client, calls=calls)


class OllamaEmbedder:
    """One embedding model of one Ollama server; implements `memory.ports.Embedder`."""

    def __init__(
        self, *, options: OllamaOptions, client: ollama.AsyncClient, calls: ModelCalls
    ) -> None:
        self._options = options
        self._client = client
        self._calls = calls
        self._dim: int | None = None

    @property
    def name(self) -> str:
        """`ollama:model`."""
        return f"ollama:{self._options.model}"

    async def embed(
        self, texts: Sequence[str], *, priority: Priority = Priority.INTERACTIVE
    ) -> Vectors:
        """One row a text, in order; shape (len(texts), d), float32, L2-normalised.

        A text longer than the model's context is represented by its beginning.

        Raises:
            ModelError: it cannot be reached or answered with something else.
        """
        clean = [text if (text := scrub(given)).strip() else _BLANK for given in texts]
        rows = [
            await self._admitted(clean[at : at + BATCH_TEXTS], priority)
            for at in range(0, len(clean), BATCH_TEXTS)
        ]
        return np.concatenate(rows) if rows else np.zeros((0, self._dim or 0), np.float32)

    async def _admitted(self, batch: list[str], priority: Priority) -> Vectors:
        if priority is Priority.BACKGROUND:
            return await self._calls.background(lambda: self._batch(batch))
        async with self._calls.interactive():
            return await self._batch(batch)

    async def _batch(self, batch: list[str]) -> Vectors:
        """One batch, with its long texts halved as long as the server finds them too long.

        `truncate` should do that and does not since 0.13.5 (ollama/ollama#14186).
        """
        while True:
            try:
                return self._checked(await self._call(batch), len(batch))
            except ModelRefused as exc:
                longest = max(map(len, batch))
                if "context length" not in str(exc) or longest <= _SHORTEST_CHARS:
                    raise
                log.info("embedding_input.shortened", model=self.name, chars=longest)
                batch = [text[: max(longest // 2, _SHORTEST_CHARS)] for text in batch]

    async def _call(self, batch: list[str]) -> ollama.EmbedResponse:
        options = self._options
        async with deadline(options.first_token_s, f"{options.model} did not embed"):
            with translated(options):
                return await self._client.embed(
                    model=options.model,
                    input=batch,
                    truncate=True,
                    options={"num_ctx": options.num_ctx},
                    keep_alive=keep_alive(options.keep_alive),
                )

    def _checked(self, answer: ollama.EmbedResponse, expected: int) -> Vectors:
        """The rows as unit vectors.

        Raises:
            ModelAnswerInvalid: not one row a text, not all of one length, or not all numbers.
        """
        lengths = {len(row) for row in answer.embeddings}
        if len(answer.embeddings) != expected:
            raise self._invalid(f"{len(answer.embeddings)} vectors for {expected} texts")
        if len(lengths) != 1 or lengths == {0} or self._dim not in (None, *lengths):
            raise self._invalid(f"vectors of {sorted(lengths)} numbers, before {self._dim}")
        rows = np.asarray(answer.embeddings, dtype=np.float64)
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        if not np.isfinite(norms).all() or not norms.all():
            raise self._invalid("a vector that is zero or not made of numbers")
        self._dim = rows.shape[1]
        units: Vectors = (rows / norms).astype(np.float32)
        return units

    def _invalid(self, what: str) -> ModelAnswerInvalid:
        return ModelAnswerInvalid(
            f"{self._options.model} gave {what}: check that it is an embedding model"
        )
