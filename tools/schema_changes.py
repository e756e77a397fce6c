"""`python -m tools.schema_changes <before> <after>`: print differences of two files in GraphQL's definition language.

It prints added types, fields and arguments, then changes that may surprise a client, then those that break one, and
exits with 1 if there are any of the last. Descriptions do not count.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from graphql import (
    GraphQLInputObjectType,
    GraphQLObjectType,
    GraphQLSchema,
    build_schema,
    find_breaking_changes,
    find_dangerous_changes,
)

_REPORTED_AS_ADDED = ("OPTIONAL_ARG_ADDED", "OPTIONAL_INPUT_FIELD_ADDED")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    arguments = parser.parse_args()
    before, after = (build_schema(path.read_text()) for path in (arguments.before, arguments.after))
    dangerous = [each for each in find_dangerous_changes(before, after) if each.type.name not in _REPORTED_AS_ADDED]
    breaking = find_breaking_changes(before, after)
    _print("added", list(added(before, after)))
    _print("dangerous", [each.description for each in dangerous])
    _print("breaking", [each.description for each in breaking])
    return 1 if breaking else 0


def added(before: GraphQLSchema, after: GraphQLSchema) -> Iterator[str]:
    """Yield additions of the second schema; a new type appears with its name alone."""
    for name in sorted(after.type_map):
        if name not in before.type_map:
            yield f"type {name}"
            continue
        earlier, later = _fields(before.type_map[name]), _fields(after.type_map[name])
        for field in later:
            if field not in earlier:
                yield f"{name}.{field}: {later[field].type}"
            else:
                known = getattr(earlier[field], "args", {})
                yield from (
                    f"{name}.{field}({argument}: {declared.type})"
                    for argument, declared in getattr(later[field], "args", {}).items()
                    if argument not in known
                )


def _fields(kind: Any) -> dict[str, Any]:
    return kind.fields if isinstance(kind, GraphQLObjectType | GraphQLInputObjectType) else {}


def _print(title: str, lines: list[str]) -> None:
    print(f"{title}: {len(lines)}")
    for line in lines:
        print(f"  {line}")


if __name__ == "__main__":
    raise SystemExit(main())
