"""Descriptions and examples of fields, as the docstrings below the fields state them.

```python
class FailureResponse(ResponseModel):
    where: str
    \"\"\"The phase that failed. Example: probing\"\"\"
```

An example is JSON, or else a text. Docstrings are read from the sources when a schema is made, so they cost nothing
where models are only used.
"""

import ast
import json
import re
import sys
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel

_EXAMPLE = re.compile(r"(?:^|\s)Example:\s")


class FieldDoc(NamedTuple):
    description: str | None
    example: Any
    """None if the docstring has none."""


def docs_of(model: type) -> dict[str, FieldDoc]:
    """Return the docs of the fields of a class by their names; those of its bases, too, unless it declares the fields
    again."""
    found: dict[str, FieldDoc | None] = {}
    for each in reversed(model.__mro__):
        if each not in (object, BaseModel):
            found |= _docs_in(each.__module__).get(each.__name__, {})
    return {name: doc for name, doc in found.items() if doc is not None}


def describe_fields(model: type[BaseModel], schema: dict[str, Any]) -> None:
    """Describe the properties of the model's schema by the docstrings of its fields, which take precedence over the
    descriptions of their types."""
    docs = docs_of(model)
    for name, field in model.model_fields.items():
        if (doc := docs.get(name)) is None or doc.description is None:
            continue
        for alias in (name, field.alias, field.serialization_alias, field.validation_alias):
            if isinstance(alias, str) and alias in schema.get("properties", {}):
                schema["properties"][alias]["description"] = doc.description


def parse(docstring: str) -> FieldDoc:
    description, *examples = _EXAMPLE.split(" ".join(docstring.split()), maxsplit=1)
    return FieldDoc(description.removesuffix(".") or None, _value(examples[0]) if examples else None)


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


@cache
def _docs_in(module: str) -> dict[str, dict[str, FieldDoc | None]]:
    """Return the docs of the fields that the classes in a module declare, by the names of the classes; None for fields
    without a docstring. The annotations of a class do not tell them: Python 3.14 makes these when they are read."""
    path = getattr(sys.modules[module], "__file__", None)
    if path is None:
        return {}
    tree = ast.parse(Path(path).read_text(encoding="utf-8"))
    return {each.name: dict(_docs_below(each.body)) for each in tree.body if isinstance(each, ast.ClassDef)}


def _docs_below(body: list[ast.stmt]) -> Iterator[tuple[str, FieldDoc | None]]:
    for field, following in pairwise([*body, None]):
        match field, following:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                yield name, parse(text)
            case ast.AnnAssign(target=ast.Name(id=name)), _:
                yield name, None
