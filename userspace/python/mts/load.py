# SPDX-License-Identifier: GPL-2.0
"""From the JSON of mtsctl to records."""

import dataclasses
import functools
import json
import types
import typing
from typing import Any, TypeVar

from mts.errors import ProtocolError

# Of userspace/schema. It grows if a field is removed or changes its meaning.
SCHEMA_VERSION = 1

T = TypeVar("T")


@functools.cache
def hints(kind: type) -> dict[str, Any]:
    """The types of a record's fields, by the names that they have in JSON."""
    its = typing.get_type_hints(kind)
    return {field.name: its[field.name] for field in dataclasses.fields(kind)}


def convert(hint: Any, value: Any) -> Any:
    """A value for a field; fields that a record does not know are left out."""
    if value is None:
        return None
    if typing.get_origin(hint) is types.UnionType:
        (hint, *others) = [arm for arm in typing.get_args(hint) if arm is not types.NoneType]
        if others:
            return value
    if typing.get_origin(hint) is tuple:
        inner = typing.get_args(hint)[0]
        return tuple(convert(inner, its) for its in value)
    if dataclasses.is_dataclass(hint):
        names = hints(typing.cast(type, hint))
        return hint(**{name: convert(its, value[name.rstrip("_")]) for name, its in names.items()})
    return value


def parse(text: str) -> dict[str, Any]:
    """An object that mtsctl has printed."""
    try:
        value = json.loads(text)
        version = value["schema_version"]
    except (ValueError, KeyError, TypeError):
        raise ProtocolError("mtsctl is older than the package mts", 0) from None
    if version != SCHEMA_VERSION:
        raise ProtocolError(f"mtsctl has schema_version {version}, not {SCHEMA_VERSION}", 0)
    return typing.cast(dict[str, Any], value)


def record(kind: type[T], text: str) -> T:
    """What mtsctl has printed, as a record of that kind."""
    try:
        return typing.cast(T, convert(kind, parse(text)))
    except KeyError as error:
        raise ProtocolError(f"mtsctl is older than the package mts: no field {error}", 0) from None
