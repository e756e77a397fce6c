"""Converts the options of a provider to a target's parameters."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from cupel_core.contract.parameters import ModelParametersInput
from cupel_core.domain.text.validation_messages import field_message
from cupel_core.imports.promptfoo.configuration_keys import MODEL_OPTIONS, PARAMETERS, Fate, Key

_NESTED = frozenset({"generationConfig", "inferenceConfig", "interfaceConfig", "textGenerationConfig", "toolConfig"})
"""Options that contain others, of Google and Bedrock."""
_UNKNOWN = Key(Fate.LEFT, "a target has no such parameter")

type Problem = tuple[str, str]
"""The option and why it was not taken."""


def read_parameters(config: Mapping[str, Any]) -> tuple[dict[str, Any], list[Problem]]:
    """The parameters, in the fields of the API, and the options that were not taken, with the reason."""
    params: dict[str, Any] = {}
    problems: list[Problem] = []
    for option, value in _options(config):
        name = PARAMETERS.get(option)
        if name is None:
            if (key := MODEL_OPTIONS.get(option, _UNKNOWN)).fate is Fate.LEFT:
                problems.append((option, key.how))
        elif (converted := _CONVERTERS.get(name, _same)(value)) is None:
            problems.append((option, "its form is not supported"))
        elif error := _error(name, converted):
            problems.append((option, error))
        else:
            params[name] = converted
    return params, problems


def _options(config: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for option, value in config.items():
        if option in _NESTED and isinstance(value, Mapping):
            yield from value.items()
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
    """`medium`, or `{effort: medium}` as in OpenAI's Responses API."""
    return value.get("effort") if isinstance(value, Mapping) else value


def _response_format(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return None
    kind = value.get("type")
    if kind in ("text", "json_object"):
        return {"type": "json" if kind == "json_object" else "text"}
    described = value.get("json_schema", value)
    if kind != "json_schema" or not isinstance(described, Mapping) or "schema" not in described:
        return None
    return {"type": "json_schema", "schema": described["schema"], **_present(described, "name")}


def _tools(value: Any) -> Any:
    if not isinstance(value, list):
        return None
    converted = [tool for each in value for tool in _functions(each)]
    return converted if converted and None not in converted else None


def _functions(tool: Any) -> Iterator[dict[str, Any] | None]:
    """Of OpenAI's, Anthropic's, Google's and Bedrock's shapes; None for a tool of the provider's own."""
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
    else:
        yield _function(tool, "input_schema" if "input_schema" in tool else "parameters")


def _function(described: Any, schema: str) -> dict[str, Any] | None:
    if not isinstance(described, Mapping) or not isinstance(described.get("name"), str):
        return None
    parameters = described.get(schema)
    own = {"parameters": parameters} if isinstance(parameters, Mapping) else {}
    return {"name": described["name"], **_present(described, "description", "strict"), **own}


def _tool_choice(value: Any) -> Any:
    if isinstance(value, str):
        return {"any": "required"}.get(value, value)
    if not isinstance(value, Mapping):
        return None
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
