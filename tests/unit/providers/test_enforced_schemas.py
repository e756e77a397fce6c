"""Schemas as they are sent for strict enforcement, in every format that has it."""

from typing import Annotated, Any, Literal

import orjson
import pytest
from pydantic import BaseModel, ConfigDict, Field

from cupel_core.domain.conversations.model_parameters import ModelParameters, ResponseFormat
from cupel_core.domain.conversations.model_request import Message, MessageRole, ModelRequest
from cupel_core.domain.conversations.roles import ModelRole
from cupel_core.providers import bedrock, model_name_of, wire_format_of
from cupel_core.providers.account import Account
from cupel_core.providers.wire_formats import HTTP_WIRE_FORMATS


class _Verdict(BaseModel):
    """A judge's reply with each kind of constraint, and a field named like one."""

    model_config = ConfigDict(extra="forbid")

    reason: Annotated[str, Field(min_length=1, max_length=5_000, pattern="^[A-Z]")]
    score: Annotated[float, Field(ge=0, le=1, multiple_of=0.1)]
    format: Annotated[list[int], Field(min_length=1, max_length=3)]
    label: Literal["minLength", "maximum"]


_REFUSED_WHEN_STRICT = {"minLength", "maxLength", "pattern", "minimum", "maximum", "multipleOf", "minItems", "maxItems"}


def _keywords(schema: object) -> set[str]:
    if isinstance(schema, list):
        return set().union(*map(_keywords, schema))
    if not isinstance(schema, dict):
        return set()
    inner = schema["properties"].values() if "properties" in schema else []
    nested = [schema[key] for key in ("items", "anyOf") if key in schema]
    return set(schema).union(*map(_keywords, [*inner, *nested]))


def _sent_schema(model: str, role: ModelRole) -> dict[str, Any]:
    request = ModelRequest(
        (Message(MessageRole.USER, "Judge"),),
        ModelParameters(response_format=ResponseFormat.of_schema(_Verdict.model_json_schema())),
        role=role,
    )
    name = model_name_of(model)
    if model.startswith("bedrock/"):
        text_format = bedrock.converse_arguments(name, request)["outputConfig"]["textFormat"]
        sent: dict[str, Any] = orjson.loads(text_format["structure"]["jsonSchema"]["schema"])
        return sent
    account = Account(model.partition("/")[0], "https://models.test", "sk-test")
    body: Any = HTTP_WIRE_FORMATS[wire_format_of(model)].request_for(account, name, request).body
    places = (("response_format", "json_schema"), ("text", "format"), ("output_config", "format"))
    return next(dict(body[outer][inner]["schema"]) for outer, inner in places if outer in body)


_STRICT_MODELS = ["openai/gpt-4o", "azure/gpt", "openai/o3-pro", "anthropic/claude-sonnet-4-5", "custom/llama"]
_STRICT_MODELS += ["bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0"]


@pytest.mark.parametrize("model", _STRICT_MODELS)
def test_the_schema_of_a_judge_has_nothing_that_strict_enforcement_refuses(model: str) -> None:
    sent = _sent_schema(model, ModelRole.JUDGE)
    assert not _keywords(sent) & _REFUSED_WHEN_STRICT
    assert list(sent["properties"]) == ["reason", "score", "format", "label"]
    assert sent["properties"]["label"]["enum"] == ["minLength", "maximum"]


@pytest.mark.parametrize("model", _STRICT_MODELS)
def test_the_schema_of_a_target_is_its_author_s(model: str) -> None:
    assert _sent_schema(model, ModelRole.TARGET) == _Verdict.model_json_schema()
