"""How one model of one Ollama server is used: the settings, with the reason of each default."""

from dataclasses import dataclass, field

DEFAULT_URL = "http://127.0.0.1:11434"


@dataclass(frozen=True, slots=True, kw_only=True)
class OllamaOptions:
    """How one model of one server is used."""

    model: str
    """As `ollama list` shows it."""
    url: str = DEFAULT_URL
    """Base address, without `/v1` or `/api`."""
    num_ctx: int = 8192
    """Context in tokens, sent with every call: the server's own default is small, and what does not
    fit is cut from the front without a word (ollama/ollama#8531, #10980)."""
    reply_tokens: int = 1024
    """Kept free for the reply, and its longest length unless a request says otherwise."""
    keep_alive: str | float = "30m"
    """How long the model stays loaded: a Go duration, or seconds; negative is for ever."""
    connect_s: float = 5.0
    """Longest wait for the connection."""
    first_token_s: float = 180.0
    """Longest wait for the first piece: a cold model loads 30 to 70 s on common hardware, and a
    processor without a graphics card reads a long prompt slowly."""
    idle_s: float = 60.0
    """Longest silence between two pieces. Servers hold a tool call back until it is whole."""
    think: bool = False
    """Whether a model that can think does. Sent only to models that list the capability: others
    answer with error 400."""
    token: str | None = field(default=None, repr=False)
    """Bearer token for a server behind a gateway."""
