"""`python -m tools.request_fields --update`: write the fields of requests that have options on the command line.

Without the option, compare them. The file is committed, because the command must not import the models: pydantic takes
longer to import than all other modules that `cupel --help` needs.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from cupel_core.contract.evals import UpdateSettings
from cupel_core.contract.experiments import ExperimentFields
from cupel_core.contract.run_labels import UpdateRun
from cupel_core.contract.run_requests import CreateEvalRun, CreateRun, RerunRun
from cupel_core.contract.scale_runs import CreateScaleRun

FILE = Path(__file__).parents[1] / "cupel/request_fields.json"
MODELS = (CreateRun, RerunRun, CreateEvalRun, CreateScaleRun, ExperimentFields, UpdateRun, UpdateSettings)
_NESTED = "config"
"""The fields of this object are options, too."""


def describe(model: type[BaseModel]) -> dict[str, dict[str, Any]]:
    """Return the type, limits, default and description of each field of a request, such as `config.judgeModel`."""
    schema = model.model_json_schema(by_alias=True)
    definitions = schema.get("$defs", {})
    found = {}
    for name, field in schema["properties"].items():
        if name == _NESTED:
            nested = _resolve(field, definitions)["properties"]
            found.update({f"{name}.{inner}": _describe(each, definitions) for inner, each in nested.items()})
        else:
            found[name] = _describe(field, definitions)
    return found


def _describe(field: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    forms = field.get("anyOf", [field])
    form = _resolve(next(each for each in forms if each.get("type") != "null"), definitions)
    maximum = form.get("maximum")
    if form.get("type") == "integer" and "exclusiveMaximum" in form:
        maximum = form["exclusiveMaximum"] - 1
    described = {
        "type": _type_of(form),
        "choices": form.get("enum"),
        "minimum": form.get("minimum"),
        "maximum": maximum,
        "nullable": len(forms) > 1 or None,
        "default": field.get("default") if _type_of(form) != "object" else None,
        "description": field.get("description") or ("" if "enum" in form else form.get("description")) or None,
    }
    return {name: value for name, value in described.items() if value is not None}


def _type_of(form: dict[str, Any]) -> str:
    """Return the type in JSON, or `texts` for a list of texts and `pair` for two whole numbers."""
    if form.get("type") != "array":
        return str(form.get("type", "object"))
    if "prefixItems" in form:
        return "pair"
    return "texts" if form["items"].get("type") == "string" else "array"


def _resolve(form: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    return definitions[form["$ref"].rpartition("/")[2]] if "$ref" in form else form


def render() -> str:
    """Return the file: an object for each model, with a line for each field."""
    models = []
    for model in MODELS:
        fields = (f"    {json.dumps(name)}: {json.dumps(each)}" for name, each in describe(model).items())
        models.append(f'  "{model.__name__}": {{\n' + ",\n".join(fields) + "\n  }")
    return "{\n" + ",\n".join(models) + "\n}\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--update", action="store_true", help="write the file")
    if parser.parse_args().update:
        FILE.write_text(render())
    elif FILE.read_text() != render():
        sys.exit("the fields of requests are old: python -m tools.request_fields --update")


if __name__ == "__main__":
    main()
