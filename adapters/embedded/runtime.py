"""llama.cpp inside the process: loading a model file, and one blocking chat call on it.

The only place that imports `xllamacpp`. What it is given is plain data, what comes back is the
chunks of llama.cpp's own chat completion stream.
"""

import importlib
import os
import secrets
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

from adapters.embedded.errors import ExtraMissing
from adapters.embedded.threads import in_thread
from memory.errors import ModelError, ModelMissing, ModelRefused

SLOTS = 2
"""Prompt caches that live side by side: one for the chat, one for the passes."""

_BATCH_TOKENS = 64
"""Tokens read between two chances to stop: about two seconds of the default model on one core, so
a person does not wait longer than that for a pass to give way. Larger batches read no faster here
(`benchmarks/embedded.py`)."""
_CACHE_MIB = 256
"""Memory for prompt states that were pushed out of their slot, so that conversations in turns keep
their read prompts: about 28 kB a token with the default model. llama.cpp's own default is 8 GB."""

Native = Any
"""Something of the library, which ships no types."""

OnChunk = Callable[[Mapping[str, Any]], bool]
"""Takes one chunk in the calling thread; True stops the model."""


class Runtime(Protocol):
    """A loaded model."""

    def chat(self, payload: Mapping[str, Any], on_chunk: OnChunk) -> None:
        """Run one chat completion to its end. Blocking; `on_chunk` sees every chunk.

        Raises:
            ModelRefused: the request cannot be run, for example because of its schema.
        """
        ...


class LlamaRuntime:
    """A model loaded by llama.cpp. The native calls release the GIL."""

    def __init__(self, server: Native) -> None:
        self._server = server

    def chat(self, payload: Mapping[str, Any], on_chunk: OnChunk) -> None:
        """As `Runtime.chat`."""
        try:
            self._server.handle_chat_completions(dict(payload), on_chunk)
        except (RuntimeError, ValueError) as exc:
            # The message can quote the request, which holds what people said.
            raise ModelRefused(
                f"the embedded model cannot run this request ({type(exc).__name__})"
            ) from exc

    def unload(self) -> None:
        """Free the model's memory: the library does it when its object goes."""
        self._server = None


@asynccontextmanager
async def open_runtime(
    path: Path, *, context_tokens: int, threads: int | None = None
) -> AsyncIterator[LlamaRuntime]:
    """The model file, loaded in a thread and unloaded at the end.

    Args:
        path: a GGUF file.
        context_tokens: prompt and reply together, for each of the slots.
        threads: None is all cores but one: with every core taken, llama.cpp's threads wait
            spinning for one that something else holds up, and the rate collapses.

    Raises:
        ExtraMissing: `xllamacpp` is not installed.
        ModelError: the file cannot be loaded.
    """
    library = await in_thread(_library)
    with tempfile.TemporaryDirectory(prefix="kith-") as private:
        params = _params(library, path, context_tokens, threads or default_threads())
        # The library always serves HTTP too. In a directory of mode 0700 and with a key that
        # nobody knows, nobody can use it: no port, no way past the access check.
        params.hostnames = [str(Path(private) / "model.sock")]
        params.api_keys = [secrets.token_hex(16)]
        runtime = LlamaRuntime(await in_thread(_load, library, params, path))
        try:
            yield runtime
        finally:
            await in_thread(runtime.unload)


def default_threads() -> int:
    """All cores that this process may use but one, and at least one."""
    # Only Linux says which cores; elsewhere all of them count.
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    return max(1, cores - 1)


async def need_library() -> None:
    """Make sure that the optional library is there, before a large download for it.

    Raises:
        ExtraMissing: it is not.
    """
    await in_thread(_library)


def _library() -> Native:
    """The optional library."""
    try:
        return importlib.import_module("xllamacpp")
    except ImportError as exc:
        raise ExtraMissing("xllamacpp") from exc


def _params(library: Native, path: Path, context_tokens: int, threads: int) -> Native:
    """llama.cpp's settings, all that differ from its own defaults."""
    params = library.CommonParams()
    params.model.path = str(path)
    params.n_parallel = SLOTS
    params.n_ctx = SLOTS * context_tokens  # is divided by the slots
    params.kv_unified = False  # a slot's share is its own: no call can push the other one out
    params.n_batch = params.n_ubatch = _BATCH_TOKENS
    params.cache_ram_mib = _CACHE_MIB
    params.cache_idle_slots = False  # what a slot holds stays in it while the other one works
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    params.fit_params = False  # no guessing at the size of the context
    params.verbosity = 0  # nothing on standard error, and no message text in any log
    params.endpoint_slots = False
    params.ui = False
    params.n_threads_http = 1
    return params


def _load(library: Native, params: Native, path: Path) -> Native:
    """The native server with the model in it. Blocking: seconds for a large model."""
    if not path.is_file():
        raise ModelMissing(f"{path} does not exist: run `kith model list`")
    try:
        return library.Server(params)
    except RuntimeError as exc:
        raise ModelError(
            f"{path} cannot be loaded: it is no GGUF model, or memory is short. "
            "Run `kith model remove NAME` and `kith model get NAME`, or choose a smaller model"
        ) from exc
