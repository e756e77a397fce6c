from collections.abc import Iterable, Mapping
from typing import Any

from cupel_core.base.errors import Invalid

type Fields = dict[str, "Fields"]
"""Maps selected fields of an object to those within them; an empty value selects all of a field."""
_MAX_FIELDS = 100
_MAX_DEPTH = 8


def fields_of(paths: Iterable[str]) -> Fields:
    """Return the fields that dotted paths name. The shorter of two paths takes precedence: it includes the longer."""
    selected: Fields = {}
    for path in sorted(paths, key=len):
        within = selected
        names = path.split(".")
        for position, name in enumerate(names):
            is_known = name in within
            within = within.setdefault(name, {})
            if is_known and not within and position < len(names) - 1:
                break
    return selected


def check_paths(paths: Any) -> list[str]:
    """Return the paths that a caller has sent. Raises Invalid unless they are a short list of texts."""
    if not isinstance(paths, list) or not all(isinstance(each, str) and each for each in paths):
        raise Invalid.field("fields", "must be a list of names and dotted paths, such as progress.completed")
    if len(paths) > _MAX_FIELDS or any(each.count(".") >= _MAX_DEPTH for each in paths):
        raise Invalid.field("fields", f"must have at most {_MAX_FIELDS} paths of {_MAX_DEPTH} names")
    return paths


def select(content: Any, fields: Fields) -> Any:
    """Return the selected fields of an object, or of each object of a list, without null values."""
    if isinstance(content, list):
        return [select(each, fields) for each in content]
    if not isinstance(content, Mapping):
        return content
    kept = type(content) if isinstance(content, dict) else dict
    return kept(
        (name, select(value, fields.get(name, {})))
        for name, value in content.items()
        if value is not None and (not fields or name in fields)
    )
