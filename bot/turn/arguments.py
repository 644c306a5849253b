"""The check of a tool's arguments: schemas for the model, and what it sent as a typed value."""

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from bot.errors import ToolFailed
from memory.language.text import clip, scrub
from memory.ports import JsonSchema

A = TypeVar("A")

_MOST_PROBLEMS = 5
_TEXT_CHARS = 4_000
"""Longest text argument that is read; a model that sends more repeats itself."""


def schema_of(arguments: type[Any]) -> JsonSchema:
    """The JSON schema of an arguments dataclass, without what only readers of code need."""
    schema = TypeAdapter(arguments).json_schema()
    properties = {name: _plain(one) for name, one in schema.get("properties", {}).items()}
    definitions = schema.get("$defs", {})
    properties = {name: _resolved(one, definitions) for name, one in properties.items()}
    return {
        "type": "object",
        "properties": properties,
        "required": list(schema.get("required", ())),
    }


def _plain(schema: Mapping[str, Any]) -> dict[str, Any]:
    """One property; a choice between a type and null is the type, as it may be left out."""
    kept = {key: value for key, value in schema.items() if key != "title"}
    options = [one for one in kept.pop("anyOf", ()) if one.get("type") != "null"]
    if len(options) == 1:
        kept = {**options[0], **kept}
    return {key: value for key, value in kept.items() if not (key == "default" and value is None)}


def _resolved(schema: dict[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    """The property with its definition in its place: small models do not follow references."""
    name = str(schema.pop("$ref", "")).rpartition("/")[2]
    found = {key: one for key, one in definitions.get(name, {}).items() if key in ("type", "enum")}
    return {**found, **schema}


def parse(arguments: type[A], given: Mapping[str, Any]) -> A:
    """What the model sent, validated.

    Raises:
        ToolFailed: what is missing or wrong, for the model to read.
    """
    present = {str(key): _clean(value) for key, value in given.items() if value is not None}
    try:
        return TypeAdapter(arguments).validate_python(present)
    except ValidationError as error:
        problems = [_problem(dict(one)) for one in error.errors(include_url=False)]
    raise ToolFailed("invalid arguments: " + "; ".join(problems[:_MOST_PROBLEMS])) from None


def _clean(value: Any) -> Any:  # noqa: ANN401 - anything that JSON can hold
    return clip(scrub(value), _TEXT_CHARS) if isinstance(value, str) else value


def _problem(error: Mapping[str, Any]) -> str:
    """One finding, without the value: that is already before the model, and may be huge."""
    where = ".".join(str(part) for part in error["loc"]) or "arguments"
    if error["type"] in ("missing", "missing_argument"):
        return f"required parameter {where!r} is missing"
    return f"invalid parameter {where!r}: {clip(str(error['msg']), 200)}"
