"""Reads the value of an answer whose structure was declared, by promptfoo's rules.

With a JSON schema as the format of the answer, the value is the parsed JSON; an answer of calls is a list of them in
OpenAI's form. Everything else is a text, also the answer to a request for any JSON object.
"""

from typing import Any

from cupel_core.domain.conversations.model_request import Message
from cupel_core.domain.text.javascript_values import parse_json


def structured_value(answer: Message, *, has_schema: bool) -> Any:
    """Return the parsed JSON, or the calls; None if the answer is a text. The value is not validated, because
    assertions do that."""
    if answer.tool_calls:
        return _calls_value(answer)
    if not has_schema:
        return None
    try:
        return parse_json(answer.content)
    except (ValueError, RecursionError):
        return None


def _calls_value(answer: Message) -> Any:
    """Return the calls alone, or a message with them if the model also wrote something."""
    calls = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in answer.tool_calls
    ]
    return {"role": "assistant", "content": answer.content, "tool_calls": calls} if answer.content else calls
