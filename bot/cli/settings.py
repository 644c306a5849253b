"""The configuration that a verb's options lead to."""

from dataclasses import replace
from pathlib import Path

from adapters.registry import MANIFESTS
from bot.config.config import Loaded, load


def loaded(config: Path | None, data_dir: Path | None = None, *, model: str = "") -> Loaded:
    """The configuration, with what the command line says put over it.

    Raises:
        ConfigError: it cannot be used.
    """
    found = load(MANIFESTS, config)
    changed = found.config
    if data_dir is not None:
        changed = replace(changed, data_dir=str(data_dir.expanduser().resolve()))
    if model:
        changed = replace(changed, models=replace(changed.models, chat=model))
    return replace(found, config=changed)
