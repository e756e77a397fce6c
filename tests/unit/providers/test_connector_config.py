"""The schema of a connector's config, and the errors for everything else."""

from typing import Any

import pytest

from cupel_core.domain.resources.connectors import ConnectorType
from cupel_core.providers.connectors.config import config_errors
from cupel_core.providers.connectors.expressions import evaluate_expressions

HTTP = {"request": "{q: message}", "reply": "answer"}


@pytest.mark.parametrize(
    ("kind", "config"),
    [
        ("langgraph", {}),
        ("langgraph", {"assistantId": "fe096781-5601-53d2-b2f6-0d3403f7e9ca", "inputKey": "chat", "stateless": True}),
        ("openai", {"model": "m"}),
        ("openai", {"model": "m", "temperature": 0, "maxTokens": 9, "parameters": {"top_p": 0.5}}),
        ("http", HTTP),
        ("http", {**HTTP, "path": "/ask?v=1", "method": "PUT", "conversationId": "id", "output": "@", "error": "e"}),
    ],
)
def test_documented_fields_are_accepted(kind: str, config: dict[str, Any]) -> None:
    assert config_errors(ConnectorType(kind), config) == []


@pytest.mark.parametrize(
    ("kind", "config", "field", "message"),
    [
        ("langgraph", {"assistantId": ""}, "assistantId", "at least 1 character"),
        ("langgraph", {"stateless": "yes"}, "stateless", "must be true or false"),
        ("langgraph", {"assistant_id": "agent"}, "assistant_id", "known fields: assistantId, inputKey, stateless"),
        ("openai", {}, "model", "required"),
        ("openai", {"model": "m", "temperature": 3}, "temperature", "must be at most 2"),
        ("openai", {"model": "m", "parameters": {"messages": []}}, "parameters", "must not contain messages"),
        ("http", {"reply": "answer"}, "request", "required"),
        ("http", {"request": "@"}, "reply", "required"),
        ("http", {**HTTP, "path": "@elsewhere.example"}, "path", "must start with /"),
        ("http", {**HTTP, "path": "/../tenant-2"}, "path", "must not contain the segment .."),
        ("http", {**HTTP, "path": "/a/%2E%2e"}, "path", "must not contain the segment .."),
        ("http", {**HTTP, "method": "GET"}, "method", "'POST', 'PUT' or 'PATCH'"),
        ("http", {**HTTP, "reply": "{a: "}, "reply", "is not a valid JMESPath expression: Incomplete expression"),
        ("http", {**HTTP, "error": "a]"}, "error", "is not a valid JMESPath expression: "),
        ("http", {**HTTP, "output": "(" * 1900}, "output", "is nested too deeply"),
        ("http", {**HTTP, "request": "a." * 1500 + "a"}, "request", "must be at most 2000 characters"),
    ],
)
def test_any_other_config_is_rejected_with_its_field(
    kind: str, config: dict[str, Any], field: str, message: str
) -> None:
    [(invalid_field, error)] = config_errors(ConnectorType(kind), config)
    assert invalid_field == field
    assert message in error
    assert "\n" not in error


def test_every_error_is_reported() -> None:
    errors = config_errors(ConnectorType.HTTP, {"path": "x", "reply": "{", "more": 1})
    assert {field for field, _ in errors} == {"path", "request", "reply", "more"}


@pytest.mark.parametrize("expression", ["nofunc(@)", "length(a)"])
async def test_an_expression_that_cannot_be_applied_says_why(expression: str) -> None:
    selected = await evaluate_expressions({"reply": expression}, {"a": 1}, 7)
    assert "function" in (selected["reply"].error or "")
