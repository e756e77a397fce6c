"""`python -m tools.openapi_changes OLD NEW`: print how two OpenAPI documents differ once references are resolved.

Equal differences at several places are printed once, with the number of places and an explanation of what they mean
for a client. The program fails if a difference has no explanation.
"""

import argparse
import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from cupel_core.interfaces.schema_sharing import simplify

type Json = dict[str, Any]

EXPLANATIONS = {
    "components/schemas/*/properties/*/examples added": "the field shares a component that has an example",
    "components/schemas/*/examples added": "an enumeration has the example that fields which refer to it had",
    "components/schemas/*/title removed": "it repeated the name of the schema",
    "components/schemas/*/properties/*/examples removed": "the type, or the example of another schema, shows it",
    "components/schemas/*/properties/*/anyOf changed": "the description of a value became that of its field",
    "components/schemas/*/properties/*/default/* removed": "the schema of the object has the default",
    "components/schemas/*/properties/*/description changed": "a text is corrected",
    "components/schemas/*/properties/*/examples changed": "the null or the empty list of most objects comes first",
    "paths/*/*/responses/2??/headers added": "the response has an `ETag`",
    "paths/*/*/responses/2??/headers/ETag added": "the response has an `ETag`",
    "paths/*/*/responses/304 added": "the operation answers 304 to a matching `If-None-Match`",
    "paths/*/*/parameters/header If-None-Match added": "the operation answers 304 to a matching `If-None-Match`",
    "paths/*/*/parameters added": "the operation has parameters for the first time",
    "paths/*/*/x-repeatable added": "a client may repeat the request without an Idempotency-Key",
    "paths/*/*/parameters/* added": "the operation has a new parameter",
    "paths/*/*/parameters/*/description changed": "a text is corrected",
    "paths/*/*/description changed": "a text is corrected",
    "paths/*/*/description removed": "the summary says the same",
    "paths/*/*/x-role added": "the operation names the least role that may call it",
    "paths/*/*/responses/default added": "it names the problems that any operation may answer",
    **{
        f"paths/*/*/responses/{status} removed": "`default` names the status"
        for status in (400, 401, 403, 404, 409, 413, 415, 422, 429, 500, 503)
    },
    "paths/*/*/responses/422 added": "the operation validates the parameters that it has now",
    "info/description changed": "a text is corrected",
}
"""Maps the pattern of a difference's place, and its kind, to its meaning."""
_ABSENT = object()
_SCHEMAS = "#/components/schemas/"
_COMPONENTS = ("parameters", "responses", "headers")
_MAX_PLACES = 3


def resolve(document: Json) -> Json:
    """Replace references by what they refer to, and give every schema all of its fields and every parameter `required`.

    References to schemas of models remain: such a schema may refer to itself.
    """
    schemas = document["components"].get("schemas", {})
    whole = {**document, "components": {**document["components"], "schemas": {}}}
    whole["components"]["schemas"] = {name: _whole(each, schemas) for name, each in schemas.items()}
    resolved: Json = _resolved(whole, whole)
    named = {name: each for name, each in resolved["components"]["schemas"].items() if not name[0].islower()}
    used = _references([resolved.get("paths"), named])
    bases = _references([part for each in schemas.values() for part in each.get("allOf", ())]) - used
    components = {kind: each for kind, each in resolved["components"].items() if kind not in _COMPONENTS}
    components["schemas"] = {name: each for name, each in named.items() if f"{_SCHEMAS}{name}" not in bases}
    return {**resolved, "components": components}


_MERGED = ("properties", "required", "description", "minProperties")
"""Merged, or describe only a part."""


def _whole(schema: Json, schemas: Json) -> Json:
    """Return a schema with the fields of those that it extends; `schema_sharing` does the opposite."""
    parts = [_whole(_of(each, schemas), schemas) for each in schema.get("allOf", ())]
    if not parts or not all({"minProperties", "properties", "required"} & each.keys() for each in parts):
        return schema
    own = {name: each for name, each in schema.items() if name != "allOf"}
    whole: Json = {"properties": {}, "required": []}
    for part in parts:
        further = {name: each for name, each in part.items() if name not in _MERGED}
        whole |= further
        whole["properties"] |= part.get("properties", {})
        whole["required"] += [each for each in part.get("required", ()) if each not in whole["required"]]
    return {name: each for name, each in (whole | own).items() if each != []}


def _of(schema: Json, schemas: Json) -> Json:
    found: Json = schemas[schema["$ref"].removeprefix(_SCHEMAS)] if "$ref" in schema else schema
    return found


def _references(value: Any) -> set[str]:
    return set(re.findall(rf'"({_SCHEMAS}[^"]+)"', json.dumps(value)))


def _resolved(value: Any, document: Json) -> Any:
    if isinstance(value, list):
        return [_resolved(each, document) for each in value]
    if not isinstance(value, dict):
        return value
    kind, _, name = str(value.get("$ref", "")).removeprefix("#/components/").partition("/")
    if kind in _COMPONENTS or (kind == "schemas" and name[0].islower()):
        beside = {key: each for key, each in value.items() if key != "$ref"}
        return _resolved(document["components"][kind][name] | beside, document)
    if "in" in value and "name" in value and "schema" in value:
        value = {"required": False, **value}
    return {key: _resolved(each, document) for key, each in value.items()}


def find_changes(old: Any, new: Any, place: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the place of every difference, and whether something was added, removed or changed there."""
    if old is _ABSENT or new is _ABSENT:
        yield place, "added" if old is _ABSENT else "removed"
    elif (parts := _parts(old)) is not None and (others := _parts(new)) is not None:
        for name in parts | others:
            yield from find_changes(parts.get(name, _ABSENT), others.get(name, _ABSENT), (*place, name))
    elif old != new and not (isinstance(old, list) and place[-1] == "required" and sorted(old) == sorted(new)):
        yield place, "changed"


def _parts(value: Any) -> Json | None:
    if isinstance(value, list) and value and all(isinstance(each, dict) and "in" in each for each in value):
        return {f"{each['in']} {each['name']}": each for each in value}
    return value if isinstance(value, dict) else None


def group(old: Json, new: Json) -> dict[str, list[str]]:
    """Return the places of the differences by pattern and kind: names of paths, schemas and fields become `*`."""
    found = defaultdict[str, list[str]](list)
    for place, kind in find_changes(simplify(resolve(old)), simplify(resolve(new))):
        pattern = (each if number not in _names(place) else "*" for number, each in enumerate(place))
        found[f"{'/'.join(pattern)} {kind}"].append("/".join(place))
    return found


def _names(place: tuple[str, ...]) -> tuple[int, ...]:
    return (1, 2) if place[0] == "paths" else (2, 4) if place[0] == "components" else ()


def explain(difference: str) -> str | None:
    """Return the meaning of a difference for a client, or None if it has no explanation."""
    return next((text for pattern, text in EXPLANATIONS.items() if fnmatchcase(difference, pattern)), None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    chosen = parser.parse_args()
    found = group(json.loads(chosen.old.read_text()), json.loads(chosen.new.read_text()))
    for difference, places in sorted(found.items()):
        print(f"{len(places):5} {difference}: {explain(difference) or 'NOT EXPLAINED'}")
        if explain(difference) is None:
            print(*(f"        {each}" for each in places[:_MAX_PLACES]), sep="\n")
    if not all(map(explain, found)):
        sys.exit("some differences have no explanation")


if __name__ == "__main__":
    main()
