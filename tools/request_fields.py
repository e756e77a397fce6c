"""`python -m tools.request_fields --update`: write the limits and defaults of requests for the command and the page.

Without the option, compare them. The files are committed, because the command must not import the models (pydantic
takes longer to import than everything else that `cupel --help` needs) and the page is built without them.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from cupel_core.contract.chats import CreateChat
from cupel_core.contract.definitions import CreateDefinition
from cupel_core.contract.evals import CreateEval, UpdateSettings
from cupel_core.contract.experiments import ExperimentFields
from cupel_core.contract.label_sets import CreateLabelSet
from cupel_core.contract.labels import SaveLabel
from cupel_core.contract.parameters import ModelParametersInput, ResponseFormatInput, TargetInput, ToolInput
from cupel_core.contract.providers import UpdateProvider
from cupel_core.contract.run_labels import UpdateRun
from cupel_core.contract.run_requests import CreateEvalRun, CreateRun, ExpandRun, RerunRun
from cupel_core.contract.scale_runs import (
    AnswerFormatInput,
    CreateScaleRun,
    ExternalEvaluatorInput,
    JudgedEvaluatorInput,
)
from cupel_core.contract.schedules import CreateSchedule
from cupel_core.contract.workspace_budgets import UpdateBudgets

FILE = Path(__file__).parents[1] / "cupel/request_fields.json"
MODELS = (
    CreateRun,
    RerunRun,
    CreateEvalRun,
    CreateScaleRun,
    ExperimentFields,
    UpdateRun,
    UpdateSettings,
    CreateLabelSet,
    SaveLabel,
)
PAGE_FILE = Path(__file__).parents[1] / "web/src/api/limits.ts"
PAGE_MODELS = (
    *(CreateRun, CreateEvalRun, ExpandRun, CreateScaleRun, AnswerFormatInput, JudgedEvaluatorInput),
    *(ExternalEvaluatorInput, CreateEval, CreateSchedule, TargetInput, ModelParametersInput, ToolInput),
    *(ResponseFormatInput, CreateChat, UpdateProvider, UpdateSettings, UpdateBudgets, CreateLabelSet, SaveLabel),
    *(ExperimentFields, CreateDefinition),
)
_NESTED = "config"
"""The fields of this object are options, too."""


def describe(model: type[BaseModel]) -> dict[str, dict[str, Any]]:
    """Return the type, limits, default and description of each field of a request, such as `config.judgeModel`."""
    return {name: _describe(field, definitions) for name, field, definitions in _fields(model)}


def _fields(model: type[BaseModel]) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Yield the name and the schema of each field, and the schemas that it may refer to."""
    schema = model.model_json_schema(by_alias=True)
    definitions = schema.get("$defs", {})
    for name, field in schema["properties"].items():
        if name == _NESTED:
            nested = _resolve(field, definitions)["properties"]
            yield from ((f"{name}.{inner}", each, definitions) for inner, each in nested.items())
        else:
            yield name, field, definitions


def _maximum(form: dict[str, Any]) -> float | None:
    if form.get("type") == "integer" and "exclusiveMaximum" in form:
        return int(form["exclusiveMaximum"]) - 1
    return form.get("maximum")


def _describe(field: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    forms = field.get("anyOf", [field])
    form = _resolve(next(each for each in forms if each.get("type") != "null"), definitions)
    described = {
        "type": _type_of(form),
        "choices": form.get("enum"),
        "minimum": form.get("minimum"),
        "maximum": _maximum(form),
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


def limits_of(model: type[BaseModel]) -> dict[str, dict[str, Any]]:
    """Return the limits and the default of each field of a request that has any. Names are those of the page's forms.

    `above` is a minimum that a number has to exceed.
    """
    found = {}
    for name, field, definitions in _fields(model):
        forms = [each for each in field.get("anyOf", [field]) if each.get("type") != "null"]
        form = _resolve(forms[0], definitions) if len(forms) == 1 else {}
        limits = {
            "min": form.get("minimum"),
            "above": form.get("exclusiveMinimum"),
            "max": _maximum(form),
            "maxLength": form.get("maxLength") if form.get("type") == "string" else None,
            "maxItems": form.get("maxItems"),
            "maxItemLength": form.get("items", {}).get("maxLength"),
            "options": form.get("enum"),
            "default": field.get("default") if _type_of(form) != "object" else None,
        }
        given = {limit: value for limit, value in limits.items() if value is not None}
        if given:
            found[name] = given
    return found


def render_limits() -> str:
    """Return the page's file: a constant for each model, with a line for each field."""
    parts = ["/** Limits and defaults of requests. Written by `python -m tools.request_fields --update`. */\n"]
    for model in PAGE_MODELS:
        lines = (f"  {_key(name)}: {_literal(limits)},\n" for name, limits in limits_of(model).items())
        parts.append(f"export const {model.__name__} = {{\n{''.join(lines)}}} as const;\n")
    return "\n".join(parts)


def _key(name: str) -> str:
    return name if name.isidentifier() else json.dumps(name)


def _literal(value: Any) -> str:
    match value:
        case bool() | str():
            return json.dumps(value)
        case int() | float():
            return f"{value:_.6f}".rstrip("0").rstrip(".")
        case list():
            return f"[{', '.join(map(_literal, value))}]"
        case dict():
            return f"{{ {', '.join(f'{_key(name)}: {_literal(each)}' for name, each in value.items())} }}"
    raise TypeError(type(value).__name__)


def render() -> str:
    """Return the command's file: an object for each model, with a line for each field."""
    models = []
    for model in MODELS:
        fields = (f"    {json.dumps(name)}: {json.dumps(each)}" for name, each in describe(model).items())
        models.append(f'  "{model.__name__}": {{\n' + ",\n".join(fields) + "\n  }")
    return "{\n" + ",\n".join(models) + "\n}\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--update", action="store_true", help="write the files")
    files = {FILE: render(), PAGE_FILE: render_limits()}
    if parser.parse_args().update:
        for file, text in files.items():
            file.write_text(text)
    elif any(file.read_text() != text for file, text in files.items()):
        sys.exit("the fields of requests are old: python -m tools.request_fields --update")


if __name__ == "__main__":
    main()
