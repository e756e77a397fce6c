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
    found: dict[str, FieldDoc] = {}
    for each in reversed(model.__mro__):
        declared = vars(each).get("__annotations__", {})
        if declared and each is not BaseModel:
            own = _docs_in(each.__module__).get(each.__name__, {})
            found = {name: doc for name, doc in found.items() if name not in declared} | own
    return found


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
def _docs_in(module: str) -> dict[str, dict[str, FieldDoc]]:
    """Return the docs of the fields of the classes in a module, by the names of the classes."""
    path = sys.modules[module].__file__
    if path is None:
        return {}
    tree = ast.parse(Path(path).read_text(encoding="utf-8"))
    return {each.name: dict(_docs_below(each.body)) for each in tree.body if isinstance(each, ast.ClassDef)}


def _docs_below(body: list[ast.stmt]) -> Iterator[tuple[str, FieldDoc]]:
    for field, docstring in pairwise(body):
        match field, docstring:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                yield name, parse(text)
