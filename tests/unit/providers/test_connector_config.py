"""What a connector's config may hold, and that whoever saves one hears of everything else."""

import re
from typing import Any

import pytest
from pydantic import BaseModel

from cupel_core.domain.resources.connectors import ConnectorType
from cupel_core.providers.connectors.config import HttpConfig, LangGraphConfig, OpenAIConfig, complaints
from cupel_core.providers.connectors.expressions import found
from tests.conftest import ROOT

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
def test_what_is_documented_is_taken(kind: str, config: dict[str, Any]) -> None:
    assert complaints(ConnectorType(kind), config) == []


@pytest.mark.parametrize(
    ("kind", "config", "field", "message"),
    [
        ("langgraph", {"assistantId": ""}, "assistantId", "at least 1 character"),
        ("langgraph", {"stateless": "yes"}, "stateless", "valid boolean"),
        ("langgraph", {"assistant_id": "agent"}, "assistant_id", "not permitted"),
        ("openai", {}, "model", "required"),
        ("openai", {"model": "m", "temperature": 3}, "temperature", "less than or equal to 2"),
        ("openai", {"model": "m", "parameters": {"messages": []}}, "parameters", "may not hold messages"),
        ("http", {"reply": "answer"}, "request", "required"),
        ("http", {"request": "@"}, "reply", "required"),
        ("http", {**HTTP, "path": "@elsewhere.example"}, "path", "must start with /"),
        ("http", {**HTTP, "method": "GET"}, "method", "'POST', 'PUT' or 'PATCH'"),
        ("http", {**HTTP, "reply": "{a: "}, "reply", "is no JMESPath expression: Incomplete expression"),
        ("http", {**HTTP, "error": "a]"}, "error", "is no JMESPath expression: "),
        ("http", {**HTTP, "output": "(" * 1900}, "output", "is nested too deeply"),
        ("http", {**HTTP, "request": "a." * 1500 + "a"}, "request", "must be at most 2000 characters"),
    ],
)
def test_anything_else_is_refused_with_its_field(kind: str, config: dict[str, Any], field: str, message: str) -> None:
    [(told, complaint)] = complaints(ConnectorType(kind), config)
    assert told == field
    assert message in complaint
    assert "\n" not in complaint


def test_every_complaint_is_told() -> None:
    told = complaints(ConnectorType.HTTP, {"path": "x", "reply": "{", "more": 1})
    assert {field for field, _ in told} == {"path", "request", "reply", "more"}


@pytest.mark.parametrize("expression", ["nofunc(@)", "length(a)"])
def test_an_expression_that_cannot_be_applied_says_why(expression: str) -> None:
    with pytest.raises(ValueError, match="function"):
        found(expression, {"a": 1})


@pytest.mark.parametrize(
    ("kind", "shape"), [("langgraph", LangGraphConfig), ("openai", OpenAIConfig), ("http", HttpConfig)]
)
def test_the_document_tells_every_field_of_a_config(kind: str, shape: type[BaseModel]) -> None:
    section = (ROOT / "docs/connectors.md").read_text().split(f"## `{kind}`")[1].split("\n## ")[0]
    told = re.findall(r"^\| (`[^|]+) \|", section, re.MULTILINE)
    assert set(re.findall(r"`(\w+)`", " ".join(told))) == {field.alias for field in shape.model_fields.values()}
