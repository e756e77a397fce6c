"""What a workspace may write, and its agent may answer, to stop a worker that it shares with others."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cupel_core.domain.resources.connectors import ConnectorType

_EXPONENTIAL = "^(?:a|a)*$"
_LONG = "a" * 60 + "b"
_DOUBLING = " | ".join(["{a:@,b:@}"] * 40)
_LOOPS = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
_COPIES = "{% set a = user.text %}" + "{% set a = a ~ a %}" * 40 + "{{ a | upper }}"
_CHAIN = {f"d{n}": {"allOf": [{"$ref": f"#/definitions/d{n + 1}"}] * 2} for n in range(40)} | {"d40": {}}


@dataclass(frozen=True)
class Behaviour:
    """The definition and the connector of a workspace, and what its agent answers."""

    content: Mapping[str, Any] = field(default_factory=dict)
    config: Mapping[str, Any] = field(default_factory=dict)
    type: ConnectorType = ConnectorType.HTTP
    reply: str = '{"answer": "Rating: 4"}'
    template: str | None = None
    """Of an operation after each answer; no operation profile if None."""


def _asserting(assertion: Mapping[str, Any], answer: str) -> Behaviour:
    quoted = answer.replace("\\", "\\\\").replace('"', '\\"')
    return Behaviour({"assertions": [assertion]}, reply=f'{{"answer": "{quoted}"}}')


HARMLESS = Behaviour()
ATTACKS: Mapping[str, Behaviour] = {
    "decision": Behaviour({"decision": {"pattern": "^((?:a|a)*)$"}}, reply=f'{{"answer": "{_LONG}"}}'),
    "decision-compilation": Behaviour({"decision": {"pattern": "(?:ab){99999999}(1)"}}),
    "regex": _asserting({"type": "regex", "value": _EXPONENTIAL}, _LONG),
    "pattern": _asserting({"type": "is-json", "value": {"pattern": _EXPONENTIAL}}, f'"{_LONG}"'),
    "patternProperties": _asserting(
        {"type": "is-json", "value": {"patternProperties": {_EXPONENTIAL: {}}}}, f'{{"{_LONG}": 1}}'
    ),
    "allOf": _asserting({"type": "is-json", "value": {"$ref": "#/definitions/d0", "definitions": _CHAIN}}, "{}"),
    "contains-xml": _asserting({"type": "contains-xml", "value": "a.b"}, "<a" * 200_000),
    "levenshtein": _asserting({"type": "levenshtein", "value": "ab" * 60_000, "threshold": 1e300}, "ba" * 200_000),
    "jmespath": Behaviour(config={"reply": _DOUBLING}),
    "template-loops": Behaviour(template=_LOOPS),
    "template-copies": Behaviour(template=_COPIES),
    "template-batch": Behaviour(template="{{ [1] | batch(100000000, 'y') | list | length }}"),
    "conversation-id": Behaviour(config={"conversationId": "@"}, reply=f'{{"answer": "{"a" * 900_000}"}}'),
    "output": Behaviour(config={"output": "trace"}, reply='{"answer": "a", "trace": ' + "[" * 900 + "]" * 900 + "}"),
    "model": Behaviour(
        config={"model": "m"},
        type=ConnectorType.OPENAI,
        reply=f'{{"model": "{"m" * 500_000}", "choices": [{{"message": {{"content": "a"}}}}]}}',
    ),
}
