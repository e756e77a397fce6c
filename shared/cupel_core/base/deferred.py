"""Provides `dataclass` with methods that are generated when they are first needed, and a faster `replace`.

`dataclasses.dataclass` writes and compiles the methods of a class while its module is imported. That was a fifth of a
function's cold start, which imports 120 to 190 data classes and creates objects of a tenth of them.

`dataclasses.replace` passes every field to `__init__`, which assigns them one by one: 4 µs for 11 fields and 7 for 23,
where this one takes 1. A conversation with an operation profile does that 18 times.
"""

import dataclasses
import threading
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
    from dataclasses import replace as replace
else:

    def dataclass(cls=None, /, *, frozen=False, eq=True, kw_only=False):
        """Work like `dataclasses.dataclass`, which must be used for other options or a class with its own `__init__`.

        The methods are generated with the first object of the class, or when its fields are first read (by
        `dataclasses.fields`, pydantic, or a data class derived from it). So the decorator reports a mistake in the
        class then, and not when its module is imported.
        """
        if cls is None:
            return lambda decorated: dataclass(decorated, frozen=frozen, eq=eq, kw_only=kw_only)
        if "__init__" in vars(cls):
            raise TypeError(f"{cls.__qualname__} has an __init__ of its own: use dataclasses.dataclass")
        _defer(cls, frozen=frozen, eq=eq, kw_only=kw_only)
        return cls

    def replace(instance, /, **changes):
        """Work like `dataclasses.replace`, for classes whose objects only have what is passed to `__init__`."""
        cls = type(instance)
        names = _field_names(cls)
        if not changes.keys() <= names:
            raise TypeError(f"{cls.__qualname__} has no field {min(changes.keys() - names)}")
        replaced = object.__new__(cls)
        values = vars(instance)  # Also those of cached properties.
        vars(replaced).update({name: values[name] for name in names} if len(values) > len(names) else values)
        vars(replaced).update(changes)
        return replaced


@lru_cache(maxsize=256)
def _field_names(cls: type) -> frozenset[str]:
    fields = dataclasses.fields(cls)
    if hasattr(cls, "__post_init__") or not all(each.init for each in fields):
        raise TypeError(f"{cls.__qualname__} sets more than it is given: use dataclasses.replace")
    return frozenset(each.name for each in fields)


_generating = threading.RLock()


def _defer(cls: Any, *, frozen: bool, eq: bool, kw_only: bool) -> None:
    def initialize(instance: object, /, *arguments: Any, **values: Any) -> None:
        generate()
        cls.__init__(instance, *arguments, **values)

    def generate() -> None:
        with _generating:
            if vars(cls)["__init__"] is not initialize:
                return
            if threading.active_count() == 1:
                del cls.__init__
                dataclasses.dataclass(cls, frozen=frozen, eq=eq, kw_only=kw_only)
                return
            # Twice the work, but until the last step an object that another thread makes waits in `initialize`.
            dataclasses.dataclass(cls, frozen=frozen, eq=eq, kw_only=kw_only)
            cls.__init__ = _generated_init(cls, frozen=frozen)

    cls.__init__ = initialize
    cls.__dataclass_fields__ = _UnknownFields(cls, generate)


class _UnknownFields:
    """Replaces the fields of a data class until they are first read."""

    def __init__(self, cls: Any, generate: Callable[[], None]) -> None:
        self._cls = cls
        self._generate = generate

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        self._generate()
        return self._cls.__dataclass_fields__


def _generated_init(cls: type, *, frozen: bool) -> Any:
    """Return the `__init__` of a derived data class, because `dataclasses` does not replace an existing `__init__`."""
    names = {name: getattr(cls, name) for name in ("__module__", "__qualname__", "__doc__")}
    derived: Any = type(cls.__name__, (cls,), names)
    return dataclasses.dataclass(derived, frozen=frozen, repr=False, eq=False).__init__
