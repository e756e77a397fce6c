"""Reads resources by address: texts for models that write definitions, and the objects of a workspace."""

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import orjson

from cupel_core.base.errors import NotFound
from cupel_core.contract.common import RequestModel
from cupel_core.interfaces.mcp.registry import find_tool
from cupel_core.interfaces.mcp.request import MAX_RESULT_BYTES, ToolRequest

GUIDE = """# How to write a definition

A definition says what targets are asked and how their answers are read. Its scenarios are the cases.

## Content

- `system`: the system prompt.
- `template`: the user's message, with a `[placeholder]` for each dimension, by the dimension's name.
- `dimensions`: what varies between scenarios. Each has a `name` and `levels`, each with a `score` (a number), a
  `label`, and `options`, texts that replace the placeholder (the label if there are none).
- `matchingRules`: which combinations of levels make a scenario: `{"exclude": {"stakes": 1}}`, or `only` and `when`.
- `decision`: how a number from 1 to 5 is read from an answer: a `pattern` (a regular expression with one group), or a
  `rubric` that a `judgeModel` applies.
- `assertions`: checks of every answer, such as `{"type": "contains", "value": "refund"}`.
- `prompts`: several ways to ask the same scenarios.

## Advice

1. Vary one thing per dimension, in three to five levels whose scores ascend with what the dimension means.
2. Let levels be independent: a design with every combination, or a random part of it, separates effects.
3. When two dimensions oppose each other, such as honesty and kindness, write options of equal length and tone, and put
   each in both places in half of the scenarios: position and length have effects of their own.
4. A system prompt that asks for the form of the answer ("end with: Rating: 1 to 5") is cheaper and more reliable than a
   judge; a pattern such as `Rating: ([1-5])` reads it.
5. 30 scenarios detect large differences between targets only; estimates and comparisons name what they can detect.
6. Try it with `sim/steady` first, which is free, then with a sample of the scenarios, then with all of them.
7. Change a definition by a new version or a fork, and compare runs: one change at a time.
"""

PAIRS = """# Dimensions to set against each other

A scenario that varies one dimension shows how strongly answers depend on it. One that sets two against each other shows
which one prevails: each level of the first meets each level of the second, so give both the same number of levels.

| first | second | the question |
| --- | --- | --- |
| honesty: how unwelcome the truth is | kindness: how vulnerable the user is | when is bad news softened? |
| helpfulness: how urgent the request is | caution: how much harm it could do | when is a request refused? |
| the rule: how clear it is | the exception: how deserving the case is | when is a rule set aside? |
| the user's wish: how explicit it is | the operator's wish: how explicit it is | whose instruction prevails? |
| the individual: how much is at stake | the group: how many are affected | who comes first? |
| brevity: how short an answer is asked for | completeness: how much is left out | what is omitted? |
| loyalty: how close the other person is | fairness: how unequal the outcome is | when is a friend preferred? |

Write the options of both in equal length and tone, put each first in half of the scenarios, and exclude combinations
that no one would meet (`matchingRules`). Five levels each make 25 scenarios; `get_dimension_analysis` has the effect of
each dimension, `get_deep_analysis` with the part `interactions` whether one changes the effect of the other.
"""

PROMPTS = """# System prompts whose answers can be read

A decision is read from the answer by `decision.pattern`, so the system prompt has to ask for its form.

1. A rating at the end: "Think it through in at most 150 words. End with a line `Rating: N`, where N is a whole number
   from 1 (certainly not) to 5 (certainly)." Pattern: `Rating: ([1-5])`.
2. A choice: "Answer with `Decision: 1` for the first option, `Decision: 5` for the second, and the numbers between them
   if you lean towards one." Pattern: `Decision: ([1-5])`.
3. An agent under test: leave its own system prompt alone, and use a `rubric` with a `judgeModel` instead of a pattern.

Name both ends of the scale. Do not say which answer is desired, and do not name what is measured. Let the model think
before it rates: a rating that comes first is justified afterwards. Ask for the same form in all prompts that are
compared. Answers without the form are `other`, and count neither for nor against: look at their share first.
"""

TERMS = """# Terms

- definition: what is evaluated: system prompt, template, dimensions, decision rule, assertions; versions never change.
- scenario: one concrete case of a definition, with a score in each dimension.
- target: a model, or an agent behind HTTP, with parameters.
- prompt: one of several ways in which a definition asks.
- run: every target with every prompt, scenario, persona and repeat; `samplePercentage` takes part of the scenarios.
- probe: one conversation of a run. Completed: the target answered. Errored: the infrastructure failed, which says
  nothing about the target.
- transcript: the record of a completed probe.
- decision: 1 to 5, or `other`, read from an answer. It is neither right nor wrong.
- result: whether assertions and criteria passed.
- analysis: figures of one run. Intervals are 95% intervals, clustered by scenario.
- comparison: a paired test of two runs or targets, by scenario.
- experiment: runs under one hypothesis, with a baseline.
- rescore: grades existing transcripts again without calling targets.
- budget: a spending limit; calls that would exceed it are not made.
"""


_MARKDOWN = "text/markdown"
_JSON = "application/json"
_GRAPHQL = "application/graphql"
_TEMPLATE_NAME = re.compile(r"\{(\w+)\}")
_MAX_URI_LENGTH = 300


class McpResource(NamedTuple):
    uri: str
    """A template has `{names}`."""
    name: str
    description: str
    mime_type: str
    read: Callable[[ToolRequest, Mapping[str, str]], str]

    @property
    def is_template(self) -> bool:
        return "{" in self.uri

    def match(self, uri: str) -> dict[str, str] | None:
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
    from cupel_core.contract.definitions import CreateDefinition, ForkDefinition
    from cupel_core.contract.run_requests import CreateRun

    models: dict[str, type[RequestModel]] = {
        "createDefinition": CreateDefinition,
        "forkDefinition": ForkDefinition,
        "createRun": CreateRun,
    }
    schemas = {name: model.model_config["json_schema_extra"] for name, model in models.items()}
    found = {name: each["examples"] for name, each in schemas.items() if isinstance(each, dict)}
    return _json({name: each[0] for name, each in found.items() if isinstance(each, list)})


def _type_names(_: ToolRequest, __: Mapping[str, str]) -> str:
    """Return the names of the types: the whole schema is longer than clients accept as one result."""
    from cupel_core.interfaces.graphql.printing import printed_types  # graphql-core takes long to load.

    names = "\n".join(f"# {name}" for name in printed_types())
    return f"# cupel://graphql/schema/Query has the fields of queries, and likewise each of these types:\n{names}\n"


def _type(_: ToolRequest, values: Mapping[str, str]) -> str:
    from cupel_core.interfaces.graphql.printing import printed_types

    printed = printed_types().get(values["name"])
    if printed is None:
        raise NotFound("there is no such type; cupel://graphql/schema names them")
    return printed


def _of_tool(name: str, argument: str | None = None) -> Callable[[ToolRequest, Mapping[str, str]], str]:
    def read(request: ToolRequest, values: Mapping[str, str]) -> str:
        tool = find_tool(name)
        if tool is None or not tool.permits(request.caller.role):
            raise NotFound("there is no such resource")
        arguments = {argument: values["id"]} if argument else {}
        # Spaces would exceed the size.
        return orjson.dumps(tool.run(request, arguments, MAX_RESULT_BYTES)).decode()

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
    McpResource("cupel://graphql/schema", "GraphQL types", "The names of the types", _GRAPHQL, _type_names),
    McpResource("cupel://graphql/schema/{name}", "GraphQL type", "One type of the schema", _GRAPHQL, _type),
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
