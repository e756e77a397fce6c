"""Recognizes files that do not contain samples, and says what they are and which command reads them."""

import json
import re
from collections.abc import Mapping
from typing import Any

from cupel_core.interop.imports.json_documents import InvalidDocument, to_json
from cupel_core.interop.imports.text_files import kind_of

_MAX_SIGNATURE = 100
_REGISTRY_CLASS = re.compile(r"^\s+class:\s*\S", re.MULTILINE)
_SAMPLES_PATH = re.compile(r"^\s+samples_jsonl:\s*(\S+)", re.MULTILINE)
_PROMPTFOO_KEYS = re.compile(r"^(prompts|providers|targets|tests|defaultTest|scenarios):", re.MULTILINE)
_DEFINITION_KEYS = re.compile(r"^content:", re.MULTILINE)
_JSON_STARTS = ("{", "[")


def refuse_other_text(text: str) -> None:
    """Raise `InvalidDocument` for a text that has no samples in any format."""
    start = text.lstrip("\N{BYTE ORDER MARK} \t\r\n")
    if kind := kind_of(start[:_MAX_SIGNATURE].encode(errors="replace")):
        raise InvalidDocument(f"is {kind}")
    if start.startswith(_JSON_STARTS):
        return
    if _REGISTRY_CLASS.search(text) and (named := _SAMPLES_PATH.search(text)):
        raise InvalidDocument(
            f"is an entry of the registry of openai/evals; import the samples it names: `cupel import openai-evals "
            f"{named[1]}` in the folder registry/data"
        )
    if is_promptfoo_text(text):
        raise InvalidDocument("is a configuration of promptfoo; import it with `cupel import promptfoo FILE`")
    if _DEFINITION_KEYS.search(text) and re.search(r"^(scenarios|generate|name):", text, re.MULTILINE):
        raise InvalidDocument("is a definition file; run it with `cupel run FILE`")


def is_promptfoo_text(text: str) -> bool:
    found = {match[1] for match in _PROMPTFOO_KEYS.finditer(text)}
    is_definition = _DEFINITION_KEYS.search(text) is not None
    return not is_definition and "prompts" in found and bool(found & {"providers", "targets", "tests", "defaultTest"})


def refuse_other_row(fields: Mapping[str, Any], where: str) -> None:
    """Raise `InvalidDocument` for a row of another tool's file, if another command reads it."""
    names = fields.keys()
    if {"scenarioId", "probeIndex"} <= names or {"scenarioId", "runId"} <= names:
        raise InvalidDocument(
            f"{where} is a transcript that `cupel export` wrote. Repeat its run with `cupel rerun RUN`, or export it "
            "with `--format openai-evals` and import that with `cupel import openai-evals`"
        )
    if isinstance(fields.get("item"), Mapping) and isinstance(fields.get("sample"), Mapping):
        raise InvalidDocument(f"{where} is an output item of OpenAI's evals; use `cupel import openai-evals`")
    if "prompts" in names and names & {"providers", "targets", "tests"}:
        raise InvalidDocument("is a configuration of promptfoo; import it with `cupel import promptfoo FILE`")
    if {"content", "scenarios"} <= names:
        raise InvalidDocument("is a definition file; run it with `cupel run FILE`")
    if is_promptfoo_results(fields):
        raise InvalidDocument("is a result file of promptfoo; import its configuration: `cupel import promptfoo FILE`")
    if any(name.startswith("__expected") for name in names):
        raise InvalidDocument(
            "is a table of tests for promptfoo (column __expected); import the configuration that names it, with its "
            "prompts: `cupel import promptfoo promptfooconfig.yaml`"
        )


def refuse_columns(fields: Mapping[str, Any]) -> None:
    """Raise `InvalidDocument` for an object that is a whole table by columns, as pandas writes by default."""
    values = list(fields.values())
    is_split = {"columns", "data"} <= fields.keys() <= {"columns", "data", "index"}
    if is_split or (len(values) > 1 and (_are_lists(values) or _are_numbered(fields))):
        orient = ', orient="split"' if is_split else ""
        to_rows = 'to_json("rows.jsonl", orient="records", lines=True)'
        raise InvalidDocument(
            f"has columns instead of rows; convert it with `pandas.read_json(file{orient}).{to_rows}`"
        )


def _are_lists(values: list[Any]) -> bool:
    """Return whether these are columns of equal length. Messages are objects in a list, and so no column."""
    columns = [
        each for each in values if isinstance(each, list) and not any(isinstance(part, Mapping) for part in each)
    ]
    return len(columns) == len(values) and len(set(map(len, columns))) == 1


def _are_numbered(fields: Mapping[str, Any]) -> bool:
    if not all(isinstance(each, Mapping) and each for each in fields.values()):
        return False
    inner = {str(name) for each in fields.values() for name in each}
    return all(name.isdecimal() for name in inner) or all(name.isdecimal() for name in fields)


def is_inspect_sample(fields: Mapping[str, Any]) -> bool:
    return {"input", "target", "epoch"} <= fields.keys() and bool(fields.keys() & {"messages", "scores", "output"})


def is_promptfoo_results(fields: Mapping[str, Any]) -> bool:
    return isinstance(fields.get("config"), Mapping) and "results" in fields


def promptfoo_configuration(text: str) -> str:
    """Return the configuration in a result file of promptfoo, and any other text as it is."""
    start = text.lstrip("\N{BYTE ORDER MARK} \t\r\n")
    if not start.startswith("{") or '"results"' not in start or '"config"' not in start:
        return text
    try:
        document = json.loads(start)
    except (ValueError, RecursionError):
        return text
    is_results = isinstance(document, dict) and is_promptfoo_results(document)
    return to_json(document["config"]) if is_results else text


def lm_eval_fields(fields: Mapping[str, Any], where: str) -> Mapping[str, Any] | None:
    """Return the row behind a sample that lm-evaluation-harness logged, with its prompt, or None for other rows."""
    if not (isinstance(fields.get("doc"), Mapping) and "arguments" in fields and "resps" in fields):
        return None
    prompts = _lm_eval_prompts(fields["arguments"])
    if len(prompts) != 1:
        raise InvalidDocument(
            f"{where} is a sample of lm-evaluation-harness that compares the likelihoods of several texts; import the "
            "dataset of its task instead, which is what `doc` has"
        )
    return {**fields["doc"], "id": fields.get("doc_id"), "input": prompts[0], "target": fields.get("target")}


def _lm_eval_prompts(arguments: Any) -> list[str]:
    """Read the prompts: older versions write lists, newer ones `{gen_args_0: {arg_0, arg_1}}`."""
    requests = list(arguments.values()) if isinstance(arguments, Mapping) else arguments
    if not isinstance(requests, list):
        return []
    return [first for each in requests if isinstance(first := _first_argument(each), str)]


def _first_argument(request: Any) -> Any:
    if isinstance(request, Mapping):
        return request.get("arg_0")
    return request[0] if isinstance(request, list) and request else None
