"""Resources: texts for authors, and what a workspace has, by address."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import orjson

from cupel_core.base.errors import NotFound
from cupel_core.contract.common import RequestModel
from mcpserver.guide import GUIDE, PAIRS, PROMPTS, TERMS
from mcpserver.registry import find_tool
from mcpserver.request import MAX_RESULT_BYTES, ToolRequest
from mcpserver.results import fit

_MARKDOWN = "text/markdown"
_JSON = "application/json"
_GRAPHQL = "application/graphql"
_TEMPLATE_NAME = re.compile(r"\{(\w+)\}")
_MAX_URI_LENGTH = 300


class McpResource(NamedTuple):
    uri: str
    """With `{names}` for a template."""
    name: str
    description: str
    mime_type: str
    read: Callable[[ToolRequest, Mapping[str, str]], str]

    @property
    def is_template(self) -> bool:
        return "{" in self.uri

    def match(self, uri: str) -> dict[str, str] | None:
        """The values of its names if the address is one of it."""
        pattern = _TEMPLATE_NAME.sub(
            r"(?P<\1>[A-Za-z0-9_-]{1,100})", re.escape(self.uri).replace(r"\{", "{").replace(r"\}", "}")
        )
        found = re.fullmatch(pattern, uri)
        return found.groupdict() if found else None


def list_resources() -> list[dict[str, Any]]:
    return [{"uri": each.uri, **_described(each)} for each in RESOURCES if not each.is_template]


def list_templates() -> list[dict[str, Any]]:
    return [{"uriTemplate": each.uri, **_described(each)} for each in RESOURCES if each.is_template]


def read_resource(request: ToolRequest, uri: str) -> dict[str, Any] | None:
    """The contents; None if there is no such resource."""
    if len(uri) > _MAX_URI_LENGTH:
        return None
    for each in RESOURCES:
        values = each.match(uri)
        if values is not None:
            return {"contents": [{"uri": uri, "mimeType": each.mime_type, "text": each.read(request, values)}]}
    return None


def _described(resource: McpResource) -> dict[str, str]:
    return {"name": resource.name, "description": resource.description, "mimeType": resource.mime_type}


def _text(text: str) -> Callable[[ToolRequest, Mapping[str, str]], str]:
    return lambda _request, _values: text


def _examples(_: ToolRequest, __: Mapping[str, str]) -> str:
    """Those of the API's document, which are tested."""
    from cupel_core.contract.definitions import CreateDefinition, ForkDefinition
    from cupel_core.contract.run_requests import CreateRun

    models: dict[str, type[RequestModel]] = {
        "createDefinition": CreateDefinition,
        "forkDefinition": ForkDefinition,
        "createRun": CreateRun,
    }
    schemas = {name: model.model_config["json_schema_extra"] for name, model in models.items()}
    return _json({name: each["examples"][0] for name, each in schemas.items() if isinstance(each, dict)})  # type: ignore[index]


def _schema(_: ToolRequest, __: Mapping[str, str]) -> str:
    from cupel_core.interfaces.graphql.schema import printed  # as in tools/graphql_queries.py

    return printed()


def _of_tool(name: str, argument: str | None = None) -> Callable[[ToolRequest, Mapping[str, str]], str]:
    """What a reading tool returns, for the same roles."""

    def read(request: ToolRequest, values: Mapping[str, str]) -> str:
        tool = find_tool(name)
        if tool is None or not tool.operation.permits(request.caller.role):
            raise NotFound("there is no such resource")
        arguments = tool.arguments.model_validate({argument: values["id"]} if argument else {})
        request = replace(request, max_result_bytes=MAX_RESULT_BYTES)
        # Without spaces, which would exceed the size.
        return orjson.dumps(fit(tool.function(request, arguments), MAX_RESULT_BYTES)).decode()

    return read


def _json(content: Any) -> str:
    return orjson.dumps(content, option=orjson.OPT_INDENT_2).decode()


RESOURCES = (
    McpResource("cupel://authoring/guide", "Authoring guide", "How to write a definition", _MARKDOWN, _text(GUIDE)),
    McpResource("cupel://authoring/examples", "Examples", "Bodies of a definition, a fork and a run", _JSON, _examples),
    McpResource(
        "cupel://authoring/dimension-pairs",
        "Dimension pairs",
        "Dimensions to set against each other",
        _MARKDOWN,
        _text(PAIRS),
    ),
    McpResource(
        "cupel://authoring/system-prompts",
        "System prompts",
        "System prompts that lead to answers with a readable decision",
        _MARKDOWN,
        _text(PROMPTS),
    ),
    McpResource("cupel://glossary", "Glossary", "Terms of Cupel", _MARKDOWN, _text(TERMS)),
    McpResource("cupel://graphql/schema", "GraphQL schema", "What graphql_query can ask for", _GRAPHQL, _schema),
    McpResource("cupel://models", "Models", "Models that can be used in runs", _JSON, _of_tool("list_models")),
    McpResource(
        "cupel://definitions/{id}", "Definition", "With its content", _JSON, _of_tool("get_definition", "definition_id")
    ),
    McpResource(
        "cupel://runs/{id}/analysis",
        "Analysis of a run",
        "Its main figures",
        _JSON,
        _of_tool("get_run_summary", "run_id"),
    ),
    McpResource(
        "cupel://comparisons/{id}", "Comparison", "With its tests", _JSON, _of_tool("get_comparison", "comparison_id")
    ),
    McpResource(
        "cupel://experiments/{id}", "Experiment", "With its runs", _JSON, _of_tool("get_experiment", "experiment_id")
    ),
)
