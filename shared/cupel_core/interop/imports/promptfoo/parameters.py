import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from cupel_core.contract.parameters import ModelParametersInput
from cupel_core.domain.text.validation_messages import field_message
from cupel_core.interop.imports.files import FileSource, NotImportable, read_file, resolve_path
from cupel_core.interop.imports.json_documents import InvalidDocument
from cupel_core.interop.imports.promptfoo.configuration_keys import FURTHER_FIELDS, MODEL_OPTIONS, PARAMETERS
from cupel_core.interop.imports.promptfoo.key_reports import Fate, Key, shape_problem
from cupel_core.interop.imports.promptfoo.yaml_documents import from_yaml

_NESTED = frozenset({"generationConfig", "inferenceConfig", "interfaceConfig", "textGenerationConfig", "toolConfig"})
_FILE = re.compile(r"file://.*\.(?:ya?ml|json)")
_FUNCTION_TYPES = frozenset({"function", "custom"})
_MAX_FILES_IN_FILES = 4
_MIME_TYPES = frozenset({"response_mime_type", "responseMimeType"})
"""Google has these options; an option with a schema takes precedence, because it says more."""
_GOOGLE_TYPES = frozenset({"STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT"})
_UNKNOWN = Key(Fate.LEFT, "a target has no such parameter")

type Problem = tuple[str, str]


def read_parameters(config: Mapping[str, Any], files: FileSource) -> tuple[dict[str, Any], list[Problem]]:
    """Return the parameters with the API's names, and the refused options with reasons.

    Values such as `file://tools.yaml`, also inside of others, are replaced by the content of the file.
    """
    params: dict[str, Any] = {}
    problems: list[Problem] = []
    for option, value in _options(config):
        name = "extraBody" if option in FURTHER_FIELDS and isinstance(value, Mapping) else PARAMETERS.get(option)
        if name is None:
            key = MODEL_OPTIONS.get(option, _UNKNOWN)
            if reason := key.how if key.fate is Fate.LEFT else shape_problem(key.shape, value):
                problems.append((option, reason))
            continue
        try:
            converted = _converted(name, _with_files(value, files))
        except (NotImportable, InvalidDocument) as error:
            problems.append((option, str(error)))
            continue
        params[name] = params.get(name, converted) if option in _MIME_TYPES else converted
    if "toolChoice" in params and "tools" not in params and any(PARAMETERS.get(each) == "tools" for each in config):
        del params["toolChoice"]
        problems.append(("tool_choice", "there is nothing to choose from without the tools"))
    return params, problems


def _converted(name: str, value: Any) -> Any:
    """Convert the value of a parameter. Raises NotImportable if that is impossible."""
    converted = _CONVERTERS.get(name, _same)(value)
    if converted is None:
        raise NotImportable("its form is not supported")
    if error := _error(name, converted):
        raise NotImportable(error)
    return converted


def _with_files(value: Any, files: FileSource, depth: int = 0) -> Any:
    if isinstance(value, str) and _FILE.fullmatch(value):
        if depth == _MAX_FILES_IN_FILES:
            raise NotImportable(f"{value} is in more than {_MAX_FILES_IN_FILES} files")
        path = resolve_path(value)
        return _with_files(from_yaml(read_file(files, path), path), files, depth + 1)
    if isinstance(value, Mapping):
        return {name: _with_files(each, files, depth) for name, each in value.items()}
    return [_with_files(each, files, depth) for each in value] if isinstance(value, list) else value


def _options(config: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for option, value in config.items():
        if option in _NESTED and isinstance(value, Mapping):
            yield from value.items()
        elif option in FURTHER_FIELDS and isinstance(value, Mapping):
            yield from ((name, each) for name, each in value.items() if name in PARAMETERS)
            if further := {name: each for name, each in value.items() if name not in PARAMETERS}:
                yield option, further
        else:
            yield option, value


def _error(name: str, value: Any) -> str | None:
    try:
        ModelParametersInput.model_validate({name: value})
    except ValidationError as error:
        return field_message(error.errors()[0]["msg"])
    return None


def _same(value: Any) -> Any:
    return value


def _texts(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _effort(value: Any) -> Any:
    """Read `medium`, `{effort: medium}` as in OpenAI's Responses API, or `{thinkingLevel: MEDIUM}` as in Google's."""
    if not isinstance(value, Mapping):
        return value
    level = value.get("thinkingLevel")
    if level is None and "thinkingBudget" in value:
        raise NotImportable("a target has no budget for thinking: write it as `reasoning_effort`")
    return level.lower() if isinstance(level, str) else value.get("effort")


def _response_format(value: Any) -> Any:
    if isinstance(value, str):
        return {"application/json": {"type": "json"}, "text/plain": {"type": "text"}}.get(value)
    if not isinstance(value, Mapping):
        return None
    kind = value.get("type")
    if kind in ("text", "json_object"):
        return {"type": "json" if kind == "json_object" else "text"}
    if kind in ("object", "OBJECT"):  # This is the schema alone, as Google writes it.
        return {"type": "json_schema", "schema": _json_schema(value)}
    described = value.get("json_schema", value)
    if kind != "json_schema" or not isinstance(described, Mapping) or "schema" not in described:
        return None
    return {"type": "json_schema", "schema": described["schema"], **_present(described, "name")}


def _tools(value: Any) -> Any:
    if isinstance(value, Mapping):  # This is Google's single tool with all functions.
        value = [value]
    if not isinstance(value, list):
        return None
    converted = [tool for each in value for tool in _functions(each)]
    return converted if converted and None not in converted else None


def _functions(tool: Any) -> Iterator[dict[str, Any] | None]:
    if not isinstance(tool, Mapping):
        yield None
    elif isinstance(declarations := tool.get("functionDeclarations", tool.get("function_declarations")), list):
        yield from (_function(each, "parameters") for each in declarations)
    elif isinstance(specification := tool.get("toolSpec"), Mapping):
        schema = specification.get("inputSchema")
        parameters = schema.get("json") if isinstance(schema, Mapping) else None
        yield _function({**specification, "parameters": parameters}, "parameters")
    elif isinstance(function := tool.get("function"), Mapping):
        yield _function(function, "parameters")
    elif own := _own_tool(tool):
        raise NotImportable(f"{own} is a tool of the provider's own, and a target has functions only")
    else:
        yield _function(tool, "input_schema" if "input_schema" in tool else "parameters")


def _own_tool(tool: Mapping[str, Any]) -> str | None:
    """Return the name of a tool that the provider executes, such as a search: a type, or Google's only field."""
    if isinstance(kind := tool.get("type"), str):
        return None if kind in _FUNCTION_TYPES else kind[:40]
    return str(next(iter(tool)))[:40] if len(tool) == 1 and "name" not in tool else None


def _function(described: Any, schema: str) -> dict[str, Any] | None:
    if not isinstance(described, Mapping) or not isinstance(described.get("name"), str):
        return None
    parameters = described.get(schema)
    own = {"parameters": _json_schema(parameters)} if isinstance(parameters, Mapping) else {}
    return {"name": described["name"], **_present(described, "description", "strict"), **own}


def _json_schema(value: Any) -> Any:
    """Return the schema with types as JSON Schema writes them; Google writes them in capital letters."""
    if isinstance(value, Mapping):
        return {
            name: each.lower()
            if name == "type" and isinstance(each, str) and each in _GOOGLE_TYPES
            else _json_schema(each)
            for name, each in value.items()
        }
    return [_json_schema(each) for each in value] if isinstance(value, list) else value


def _tool_choice(value: Any) -> Any:
    if isinstance(value, str):
        return {"any": "required"}.get(value, value)
    if not isinstance(value, Mapping):
        return None
    if isinstance(mode := value.get("mode"), str):  # This is Google's shape.
        return {"ANY": "required", "VALIDATED": "auto"}.get(mode.upper(), mode.lower())
    named = value.get("function", value.get("tool", value))
    if isinstance(named, Mapping) and isinstance(named.get("name"), str):
        return {"name": named["name"]}
    kind = value.get("type") or next(iter(value), None)
    return {"any": "required"}.get(str(kind), kind)


def _present(values: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: values[name] for name in names if values.get(name) is not None}


_CONVERTERS: dict[str, Callable[[Any], Any]] = {
    "stop": _texts,
    "reasoningEffort": _effort,
    "responseFormat": _response_format,
    "tools": _tools,
    "toolChoice": _tool_choice,
}
