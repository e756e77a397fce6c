"""Converts rows of a run's data to scenarios: the item is in the scenario's variables, the messages are rendered from
it."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.definitions.scenarios import MAX_TEXT_LENGTH, Scenario
from cupel_core.domain.scoring.grader_templates import SAMPLE, recorded_sample, render_template, value_at

ITEM = "item"
STORED_ANSWERS = frozenset({"stored_completions", "responses"})
"""Sources of these types have answers of runs as rows."""
RECORDED_TARGET = "sim/echo"
"""The target of a run that calls no model, because the answers are in its data."""
_ROLES = {**{str(role): role for role in MessageRole if role is not MessageRole.TOOL}, "developer": MessageRole.SYSTEM}
_TEXT_PARTS = ("text", "input_text", "output_text")
_MAX_MESSAGES = 200

type Row = Mapping[str, Any]
"""A row has `item`, and `sample` if it has an answer."""
type InputMessages = Mapping[str, Any]


def sampled_scenario(number: int, row: Row, input_messages: InputMessages) -> Scenario:
    """Return the scenario that asks a model with a row. Raises ValueError with the problem."""
    if input_messages["type"] == "item_reference":
        messages = _referenced(input_messages["item_reference"], row[ITEM])
    else:
        messages = _rendered(input_messages["template"], row[ITEM])
    for position, message in enumerate(messages):
        if not message.content.strip():
            raise ValueError(f"message {position} is blank")
        if len(message.content) > MAX_TEXT_LENGTH:
            raise ValueError(f"message {position} has more than {MAX_TEXT_LENGTH:,} characters")
    return _scenario(number, messages, {ITEM: row[ITEM]})


def recorded_scenario(number: int, row: Row) -> Scenario:
    """Return the scenario of a row that is graded as it is. The simulated target repeats the answer, or the row
    itself."""
    sample = row.get(SAMPLE) or {}
    text = recorded_sample(sample).get("output_text")
    shown = text if isinstance(text, str) and text.strip() else json.dumps(row[ITEM], ensure_ascii=False)
    message = Message(MessageRole.USER, shown[:MAX_TEXT_LENGTH])
    return _scenario(number, (message,), {ITEM: row[ITEM], SAMPLE: sample})


def answer_row(transcript_id: str, messages: Sequence[Message], model: str, metadata: Mapping[str, Any]) -> Row:
    """Return the row of an answered conversation, in the form of OpenAI's stored completions."""
    answer = _message_json(messages[-1])
    item = {
        "id": transcript_id,
        "input": [_message_json(message) for message in messages[:-1]],
        "output": [answer],
        "metadata": dict(metadata),
    }
    return {ITEM: item, SAMPLE: {"model": model, "choices": [{"index": 0, "message": answer}]}}


def _message_json(message: Message) -> dict[str, Any]:
    calls = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in message.tool_calls
    ]
    optional = {"tool_calls": calls or None, "tool_call_id": message.tool_call_id}
    given = {name: value for name, value in optional.items() if value is not None}
    return {"role": str(message.role), "content": message.content, **given}


def data_digest(source: Mapping[str, Any], rows: Sequence[Row]) -> str:
    """Return the same digest for equal data, so that runs of it have the same scenarios."""
    text = json.dumps([source, list(rows)], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def as_text(content: Any) -> str:
    """Return the text of a message's content: a text, a part, or a list of both. Raises ValueError for images and
    audio."""
    return "\n".join(map(_part_text, content)) if isinstance(content, list) else _part_text(content)


def _part_text(part: Any) -> str:
    match part:
        case str():
            return part
        case {"type": str(kind), "text": str(text)} if kind in _TEXT_PARTS:
            return text
    raise ValueError("its content must be text: other parts are not supported here")


def _scenario(number: int, messages: Sequence[Message], variables: Mapping[str, Any]) -> Scenario:
    return Scenario("", f"Item {number}", tuple(messages), metadata={"vars": dict(variables)})


def _rendered(template: Sequence[Mapping[str, Any]], item: Any) -> list[Message]:
    return [_message(each, render_template(as_text(each["content"]), {ITEM: item})) for each in template]


def _referenced(path: str, item: Any) -> list[Message]:
    found = value_at(path, {ITEM: item})
    if not isinstance(found, list) or not 1 <= len(found) <= _MAX_MESSAGES:
        raise ValueError(f"{path} must be a list of 1 to {_MAX_MESSAGES} messages")
    for message in found:
        if not isinstance(message, Mapping) or "content" not in message:
            raise ValueError(f"{path} must be a list of messages with a role and a content")
    return [_message(message, as_text(message["content"])) for message in found]


def _message(written: Mapping[str, Any], text: str) -> Message:
    role = _ROLES.get(str(written.get("role")))
    if role is None:
        raise ValueError(f"the role of a message must be one of {', '.join(_ROLES)}")
    return Message(role, text)
