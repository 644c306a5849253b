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
from typing import Any, get_type_hints
from zoneinfo import ZoneInfo

import platformdirs
from pydantic import TypeAdapter, ValidationError

from bot.config.settings import Config
from bot.config.tables import config_type
from bot.errors import ConfigError, Problem
from bot.manifests import Manifests
from bot.ports import Secret

APP = "kith"
FILE = "kith.toml"
VARIABLE = "KITH_CONFIG"
CREDENTIALS = "CREDENTIALS_DIRECTORY"
"""Where systemd puts what `LoadCredential=` names (systemd.exec(5))."""

Environment = Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """A configuration, with where it came from."""

    config: Config
    source: Path | None
    """None: no file was found, all is default."""
    manifests: Manifests
    """The platforms and model servers that it has tables for."""
    environment: Environment = field(default_factory=dict, repr=False)

    @property
    def data_dir(self) -> Path:
        """Absolute path of the data directory."""
        return self.path(self.config.data_dir, Path(platformdirs.user_data_dir(APP)))

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
        variable = variable_of(name)
        if value := self.environment.get(variable, "").strip():
            return Secret(value)
        if named := self.environment.get(f"{variable}_FILE"):
            return Secret(_secret_file(Path(named), f"{variable}_FILE"))
        if directory := self.environment.get(CREDENTIALS):
            credential = Path(directory) / name
            if credential.exists():
                return Secret(_secret_file(credential, f"credential {name}"))
        return None

    def path(self, written: str, default: Path) -> Path:
        """The absolute path of what a setting names; empty is the default."""
        if not written:
            return default.resolve()
        base = self.source.parent if self.source else Path.cwd()
        return (base / Path(written).expanduser()).resolve()


def variable_of(secret: str) -> str:
    """The environment's name of a secret."""
    return f"KITH_{secret.upper().replace('-', '_')}"


def secret_files(env: Environment, names: Sequence[str]) -> list[Path]:
    """The files that secrets are read from, if they are."""
    named = [env.get(f"{variable_of(name)}_FILE") for name in names]
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


def load(manifests: Manifests, path: Path | None = None, env: Environment | None = None) -> Loaded:
    """Read the configuration: the file named, else the first of the search order, else defaults.

    Raises:
        ConfigError: with every problem that was found. A file that is named must exist.
    """
    env = environment() if env is None else env
    named = path or (Path(env[VARIABLE]) if env.get(VARIABLE) else None)
    source = named or next((place for place in search_order(env) if _is_file(place)), None)
    if source is None:
        config = config_type(manifests)()
    else:
        source = source.resolve()
        config = parse(_read(source), str(source), manifests)
    return Loaded(config=config, source=source, manifests=manifests, environment=env)


def _is_file(place: Path) -> bool:
    """Whether a file is there, as far as we may look."""
    try:
        return place.is_file()
    except OSError:
        return False


def parse(text: str, source: str, manifests: Manifests) -> Config:
    """The configuration that a TOML text holds.

    Raises:
        ConfigError: with every problem that was found.
    """
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        problem = Problem(key="", what=f"not valid TOML: {error}")
        raise ConfigError(source, [problem]) from error
    kind, problems = config_type(manifests), _zone_problems(table)
    try:
        config = TypeAdapter(kind).validate_json(json.dumps(table, default=_date), strict=True)
    except ValidationError as error:
        found = [_problem(dict(one), manifests) for one in error.errors()]
        raise ConfigError(source, [*found, *problems]) from error
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


def _problem(found: Mapping[str, Any], manifests: Manifests) -> Problem:
    """What pydantic found, in our words; the value itself is not repeated, it may be a secret."""
    place = tuple(str(step) for step in found["loc"])
    if found["type"] in {"unexpected_keyword_argument", "extra_forbidden"}:
        if secret := _secret_meant(place, manifests):
            return Problem(key=".".join(place), what=secret)
        near = difflib.get_close_matches(place[-1], _names_at(place[:-1], manifests), n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        return Problem(key=".".join(place), what=f"there is no such key{hint}")
    return Problem(key=".".join(place), what=str(found["msg"]))


def _secret_meant(place: tuple[str, ...], manifests: Manifests) -> str:
    """What to do instead where somebody wrote a secret into the file; empty if nobody did."""
    meant = f"{place[0]}-token"
    if "token" not in place[-1] or meant not in manifests.secrets:
        return ""
    variable = variable_of(meant)
    return (
        "secrets never stand in this file, as it is read, copied and shown; put it into"
        f" ${variable}, into a file named by ${variable}_FILE, or into the systemd credential"
        f" {meant}, and delete it here"
    )


def _names_at(place: tuple[str, ...], manifests: Manifests) -> list[str]:
    """The keys that a table may have."""
    kind: Any = config_type(manifests)
    for step in place:
        kind = get_type_hints(kind).get(step)
        if not is_dataclass(kind):
            return []
    return [one.name for one in fields(kind)]
