"""The same store operations in mem0 with its FAISS store, for `benchmarks/store.py --mem0`.

mem0 gets a virtual environment of its own, so that its dependencies never meet Kith's, and runs
in a process of its own. It is given the texts and vectors that Kith was given: nothing is
embedded, nothing is extracted (`infer=False`), no model is asked, no telemetry is sent. The store
is loaded in one stroke behind mem0's own interface, since adding one by one takes hours.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

PACKAGES = ("mem0ai", "faiss-cpu")
OPERATIONS = 50
_USER = "one"
_TOP = 100
_SEARCH_THRESHOLD = 0.0
_FOUND = 10


def measured(
    environment: Path,
    directory: Path,
    *,
    texts: Sequence[str],
    vectors: NDArray[np.float32],
    questions: dict[str, NDArray[np.float32]],
) -> dict[str, Any]:
    """Times in milliseconds of mem0 over these messages; the environment is made if it is not there."""
    python = _made(environment)
    directory.mkdir()
    np.save(directory / "vectors.npy", vectors)
    np.save(directory / "asked.npy", np.stack(list(questions.values())))
    (directory / "texts.json").write_text(json.dumps([list(texts), list(questions)]))
    secrets = {"OPENAI_API_KEY": "none", "MEM0_TELEMETRY": "False", "MEM0_DIR": str(directory)}
    subprocess.run([python, __file__, directory], check=True, env=os.environ | secrets)
    return dict(json.loads((directory / "figures.json").read_text()))


def _made(environment: Path) -> Path:
    python = environment / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", environment], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
    return python


class Given:
    """An embedding model that knows the vectors of the texts already."""

    def __init__(self, vectors: dict[str, list[float]]) -> None:
        self._vectors = vectors

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        """The vector of a text."""
        del memory_action
        return self._vectors[text]

    def embed_batch(self, texts: list[str], memory_action: str | None = None) -> list[list[float]]:
        """The vectors of several texts."""
        return [self.embed(text, memory_action) for text in texts]


def _opened(directory: Path, dimension: int) -> Any:  # noqa: ANN401 - known to the other side
    from mem0 import Memory  # noqa: PLC0415 - is there in its own environment alone

    store = {
        "collection_name": "bench",
        "path": str(directory / "faiss"),
        "distance_strategy": "cosine",
        "embedding_model_dims": dimension,
    }
    return Memory.from_config(
        {
            "vector_store": {"provider": "faiss", "config": store},
            "history_db_path": str(directory / "history.db"),
        }
    )


def _timed(work: Callable[[int], object]) -> dict[str, float]:
    spent = []
    for at in range(OPERATIONS):
        began = time.perf_counter()
        work(at)
        spent.append((time.perf_counter() - began) * 1_000)
    return {"p50": float(np.median(spent)), "p95": float(np.percentile(spent, 95))}


def main(directory: Path) -> None:
    """Load the store, time the operations, leave the figures beside it."""
    texts, asked = json.loads((directory / "texts.json").read_text())
    vectors = np.load(directory / "vectors.npy")
    memory = _opened(directory, vectors.shape[1])
    known = zip(asked, np.load(directory / "asked.npy").tolist(), strict=True)
    memory.embedding_model = Given(dict(known))
    ids = [f"message-{at}" for at in range(len(texts))]
    began = time.perf_counter()
    memory.vector_store.insert(
        vectors=vectors,
        payloads=[{"data": text, "user_id": _USER, "role": "user"} for text in texts],
        ids=ids,
    )
    loaded_ms = (time.perf_counter() - began) * 1_000

    def add(at: int) -> None:
        memory.add(asked[at], user_id=_USER, infer=False)

    def search(at: int) -> None:
        options = {"top_k": _TOP, "filters": {"user_id": _USER}, "threshold": _SEARCH_THRESHOLD}
        if len(memory.search(asked[at], **options)["results"]) < _FOUND:
            raise RuntimeError("mem0 finds next to nothing: its figure would tell nothing")

    figures = {
        "version": version("mem0ai"),
        "load": loaded_ms,
        "append": _timed(add),
        "dense": _timed(search),
        "delete": _timed(lambda at: memory.delete(ids[at])),
    }
    if memory.vector_store.index.ntotal != len(texts):
        raise RuntimeError("as many were added as deleted, and the numbers differ")
    (directory / "figures.json").write_text(json.dumps(figures))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
