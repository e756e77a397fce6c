"""JSON of values, read from the annotations of their fields: `encode(value)` and `decode(Kind, data)`.

Data classes and named tuples become objects with camelCase names; a field that has its default is left out. These
annotations say where the JSON differs:

```python
@dataclass(frozen=True)
class Reply:
    kind: Annotated[str, JsonName("type")]
    usage: Annotated[Usage, INLINE]
    models: Mapping[str, Annotated[ModelCalls, ROW]]
```

A class whose JSON has another shape defines `to_json` and `from_json`, which are then used. The codec of a type is made
when it is first used, so that importing a module costs nothing for it.
"""

import dataclasses
import types
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import date, datetime
from enum import Enum
from functools import cache
from importlib import import_module
from typing import Annotated, Any, NamedTuple, TypeAliasType, Union, cast, get_args, get_origin, get_type_hints

from cupel_core.base.clock import from_iso, to_iso


class JsonName(NamedTuple):
    """Sets the name of a field in JSON, if it is not that of the attribute in camelCase."""

    text: str


class Imported(NamedTuple):
    """Names the class of a value whose module is imported with the first value, because few callers need it."""

    module: str
    name: str

    @property
    def kind(self) -> Any:
        return getattr(import_module(self.module), self.name)

    def __get_pydantic_core_schema__(self, _: Any, handler: Any) -> Any:
        return handler.generate_schema(self.kind)


class _Mark(Enum):
    INLINE = "inline"
    ROW = "row"
    WRITTEN = "written"


INLINE = _Mark.INLINE
"""The fields of the value are placed among those of the object that has it."""
ROW = _Mark.ROW
"""The value is an array of its fields, in their order."""
WRITTEN = _Mark.WRITTEN


class JsonCodec(NamedTuple):
    encode: Callable[[Any], Any]
    decode: Callable[[Any], Any]


class _CodedField(NamedTuple):
    name: str
    key: str
    codec: JsonCodec
    default: Any
    """`dataclasses.MISSING` if there is no default."""
    is_inline: bool
    skips_null: bool
    """Null stands for the default, because the field cannot be None."""


def encode(value: Any) -> Any:
    return _codec(type(value)).encode(value)


def decode[T](kind: type[T], data: Any) -> T:
    """Return the value of which `encode` made this JSON. Absent fields get their defaults."""
    return cast("T", _codec(kind).decode(data))


def decode_all[T](kind: type[T], items: Iterable[Any]) -> tuple[T, ...]:
    return tuple(map(_codec(kind).decode, items))


def _same(value: Any) -> Any:
    return value


def _refuse(value: Any) -> Any:
    raise TypeError(f"{type(value).__name__} has only one of to_json and from_json")


_PLAIN = JsonCodec(_same, _same)
_DATETIME = JsonCodec(to_iso, from_iso)
_DATE = JsonCodec(date.isoformat, date.fromisoformat)
_NUMBER_AS_NAME = JsonCodec(str, int)
"""The codec of integers that are names in an object."""


def _make_codec(kind: Any) -> JsonCodec:
    origin, arguments = get_origin(kind), get_args(kind)
    if isinstance(kind, TypeAliasType):
        return _codec(kind.__value__)
    if origin is Annotated:
        return _annotated(*arguments)
    if origin in (Union, types.UnionType):
        return _optional([each for each in arguments if each is not types.NoneType])
    if origin in (dict, Mapping, Counter):
        return _mapping(origin, *arguments)
    if origin in (tuple, list, Sequence, set, frozenset, AbstractSet):
        return _sequence(origin, arguments)
    return _of_class(kind) if isinstance(kind, type) else _PLAIN


_codec: Callable[[Any], JsonCodec] = cache(_make_codec)


def _annotated(kind: Any, *marks: Any) -> JsonCodec:
    if ROW in marks:
        return _row(kind)
    imported = next((mark for mark in marks if isinstance(mark, Imported)), None)
    return _codec(kind) if imported is None else _imported(imported)


def _imported(imported: Imported) -> JsonCodec:
    return JsonCodec(encode, lambda data: _codec(imported.kind).decode(data))


def _of_class(kind: type) -> JsonCodec:
    if hasattr(kind, "to_json") or hasattr(kind, "from_json"):
        return JsonCodec(getattr(kind, "to_json", _refuse), getattr(kind, "from_json", _refuse))
    if issubclass(kind, Enum):
        return JsonCodec(lambda member: member.value, kind)
    if kind is datetime:
        return _DATETIME
    if kind is date:
        return _DATE
    if dataclasses.is_dataclass(kind) or hasattr(kind, "_fields"):
        return _object(kind)
    return _PLAIN


def _optional(kinds: list[Any]) -> JsonCodec:
    """Return the codec of a value that may be None. Several types are possible only if all are JSON already."""
    codecs = [_codec(each) for each in kinds]
    if all(each is _PLAIN for each in codecs):
        return _PLAIN
    if len(codecs) > 1:
        raise TypeError(f"JSON does not say which of {kinds} a value is: define to_json and from_json")
    item = codecs[0]
    return JsonCodec(
        lambda value: None if value is None else item.encode(value),
        lambda data: None if data is None else item.decode(data),
    )


def _mapping(origin: Any, key_kind: Any, value_kind: Any = int) -> JsonCodec:
    key, item = _NUMBER_AS_NAME if key_kind is int else _codec(key_kind), _codec(value_kind)
    make = Counter if origin is Counter else dict
    if key is _PLAIN and item is _PLAIN:
        return JsonCodec(dict, make)
    return JsonCodec(
        lambda value: {key.encode(name): item.encode(each) for name, each in value.items()},
        lambda data: make({key.decode(name): item.decode(each) for name, each in data.items()}),
    )


def _sequence(origin: Any, arguments: tuple[Any, ...]) -> JsonCodec:
    make = {list: list, set: set, frozenset: frozenset, AbstractSet: frozenset}.get(origin, tuple)
    if origin is tuple and Ellipsis not in arguments:
        items = [_codec(each) for each in arguments]
        return JsonCodec(
            lambda value: [each.encode(part) for each, part in zip(items, value, strict=True)],
            lambda data: tuple(each.decode(part) for each, part in zip(items, data, strict=True)),
        )
    item = _codec(arguments[0])
    if make in (set, frozenset):
        return JsonCodec(lambda value: sorted(map(item.encode, value)), lambda data: make(map(item.decode, data)))
    if item is _PLAIN:
        return JsonCodec(list, make)
    return JsonCodec(lambda value: list(map(item.encode, value)), lambda data: make(map(item.decode, data)))


def _row(kind: Any) -> JsonCodec:
    return JsonCodec(
        lambda value: [each.codec.encode(getattr(value, each.name)) for each in _fields(kind)],
        lambda data: kind(*(each.codec.decode(part) for each, part in zip(_fields(kind), data, strict=False))),
    )


def _object(kind: Any) -> JsonCodec:
    """Return the codec of an object. Its fields are read when it is first used, because a type may contain itself."""

    def encode_fields(value: Any) -> dict[str, Any]:
        encoded: dict[str, Any] = {}
        for name, key, codec, default, is_inline, _ in _fields(kind):
            found = getattr(value, name)
            if found is default or found == default:
                continue
            if is_inline:
                encoded |= codec.encode(found)
            else:
                encoded[key] = codec.encode(found)
        return encoded

    def decode_fields(data: Mapping[str, Any]) -> Any:
        values = {}
        for name, key, codec, _, is_inline, skips_null in _fields(kind):
            if is_inline:
                values[name] = codec.decode(data)
            elif key in data and not (skips_null and data[key] is None):
                values[name] = codec.decode(data[key])
        return kind(**values)

    return JsonCodec(encode_fields, decode_fields)


@cache
def _fields(kind: Any) -> list[_CodedField]:
    hints = get_type_hints(kind, include_extras=True)
    return [_field(name, hints[name], default) for name, default in _defaults(kind).items()]


def _field(name: str, kind: Any, default: Any) -> _CodedField:
    marks = get_args(kind)[1:] if get_origin(kind) is Annotated else ()
    key = next((mark.text for mark in marks if isinstance(mark, JsonName)), None) or _camel(name)
    omitted = dataclasses.MISSING if WRITTEN in marks else default
    skips_null = default is not dataclasses.MISSING and not _permits_none(kind)
    return _CodedField(name, key, _codec(kind), omitted, INLINE in marks, skips_null)


def _permits_none(kind: Any) -> bool:
    if isinstance(kind, TypeAliasType):
        return _permits_none(kind.__value__)
    if get_origin(kind) is Annotated:
        return _permits_none(get_args(kind)[0])
    return kind is Any or types.NoneType in get_args(kind)


def _defaults(kind: Any) -> dict[str, Any]:
    if dataclasses.is_dataclass(kind):
        return {each.name: _default(each) for each in dataclasses.fields(kind) if each.init}
    return {name: kind._field_defaults.get(name, dataclasses.MISSING) for name in kind._fields}


def _default(field: dataclasses.Field[Any]) -> Any:
    return field.default if field.default_factory is dataclasses.MISSING else field.default_factory()


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))
