from collections.abc import Mapping
from typing import Any

_SHARED = {"temperature": "temperature", "top_p": "topP", "seed": "seed", "reasoning_effort": "reasoningEffort"}
_RUN = {**_SHARED, "max_completion_tokens": "maxOutputTokens"}
_GRADER = {**_SHARED, "max_completions_tokens": "maxOutputTokens"}


def run_params(sampling: Mapping[str, Any]) -> dict[str, Any]:
    """Convert `sampling_params` of a run, in the form of chat completions or of responses."""
    params = _renamed(sampling, _RUN)
    reply_format = sampling.get("response_format") or (sampling.get("text") or {}).get("format")
    if reply_format and (written := _format(reply_format)):
        params["responseFormat"] = written
    if tools := sampling.get("tools"):
        params["tools"] = [_tool(tool.get("function") or tool) for tool in tools]
    return params


def run_sampling_params(params: Mapping[str, Any], *, of_responses: bool) -> dict[str, Any]:
    sampling = _renamed(params, {name: own for own, name in _RUN.items()})
    if "responseFormat" in params:
        written = _openai_format(params["responseFormat"], of_responses=of_responses)
        sampling |= {"text": {"format": written}} if of_responses else {"response_format": written}
    if params.get("tools"):
        sampling["tools"] = [_openai_tool(tool, of_responses=of_responses) for tool in params["tools"]]
    return sampling


def grader_params(sampling: Mapping[str, Any]) -> dict[str, Any]:
    return _renamed(sampling, _GRADER)


def grader_sampling_params(params: Mapping[str, Any]) -> dict[str, Any]:
    return _renamed(params, {name: own for own, name in _GRADER.items()})


def _renamed(fields: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    return {names[name]: value for name, value in fields.items() if name in names and value is not None}


def _format(reply_format: Mapping[str, Any]) -> dict[str, Any] | None:
    match reply_format["type"]:
        case "json_object":
            return {"type": "json"}
        case "json_schema":
            described = reply_format.get("json_schema") or reply_format
            return {"type": "json_schema", "schema": described.get("schema") or {}, "name": described["name"]}
    return None


def _openai_format(written: Mapping[str, Any], *, of_responses: bool) -> dict[str, Any]:
    if written["type"] != "json_schema":
        return {"type": "json_object" if written["type"] == "json" else "text"}
    described = {"name": written.get("name") or "answer", "schema": written["schema"]}
    return {"type": "json_schema", **described} if of_responses else {"type": "json_schema", "json_schema": described}


def _tool(function: Mapping[str, Any]) -> dict[str, Any]:
    names = ("name", "description", "parameters", "strict")
    return {name: function[name] for name in names if function.get(name) is not None}


def _openai_tool(tool: Mapping[str, Any], *, of_responses: bool) -> dict[str, Any]:
    if not of_responses:
        return {"type": "function", "function": dict(tool)}
    return {"type": "function", "strict": None, "parameters": None, **tool}
