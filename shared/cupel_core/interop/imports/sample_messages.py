import ast
import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.conversations.tools import ToolCall
from cupel_core.interop.imports.files import NotImportable
from cupel_core.interop.imports.json_documents import InvalidDocument, from_json, to_json, to_plain_json
from cupel_core.interop.imports.media import read_content
from cupel_core.interop.imports.samples import Sample

_ROLES = {str(role): role for role in MessageRole} | {
    "developer": MessageRole.SYSTEM,
    "human": MessageRole.USER,
    "gpt": MessageRole.ASSISTANT,
    "chatgpt": MessageRole.ASSISTANT,
    "model": MessageRole.ASSISTANT,
    "bot": MessageRole.ASSISTANT,
}
_EXAMPLE_ROLES = {"example_user": MessageRole.USER, "example_assistant": MessageRole.ASSISTANT}
_CHAT_START = re.compile(r"""\[\s*\{\s*(["'])(role|from|content|value)\1""")
_ROLE_KEY = re.compile(r"""["'](role|from)["']""")
_QUOTE = re.compile("""["']""")
_JSON_START = re.compile(r"""\s*(\[\s*[\[{"'\]]|\{\s*["'}])""")
_MAX_LITERAL = 200_000
"""A chat as Python prints it has at most this many characters; Python's parser takes a hundred times as many bytes."""


class OpeningChat(NamedTuple):
    messages: tuple[Message, ...]
    answer: str | None = None
    """If a chat ends with the assistant's answer, this is that answer, which is not sent."""


def read_messages(value: Any, sample: Sample, *, has_answer: bool) -> OpeningChat:
    """Read the messages of a sample. An answer at the end is the expected one, unless the sample has another.

    A model answers a user, so if there are only system messages, the last one becomes the user's.
    """
    value = _parsed(value, sample)
    if isinstance(value, str) and value.strip():
        return OpeningChat((Message(MessageRole.USER, value),))
    if not isinstance(value, list) or not value:
        raise InvalidDocument(f"{sample.where}: input must be a text or a list of messages, and not empty")
    messages = tuple(_message(item, sample) for item in value)
    _check_calls(messages, sample)
    if all(message.role is MessageRole.SYSTEM for message in messages):
        sample.notes.change(
            sample.where, "system message", "there is no user message, so the last one is sent as the user's"
        )
        return OpeningChat((*messages[:-1], Message(MessageRole.USER, messages[-1].content)))
    return _without_answer(messages, sample, has_answer=has_answer)


def parse_chat(text: str, column: str, sample: Sample) -> Any:
    """Parse messages in a column of chats: JSON, or what Python prints. Other text is left as it is.

    Raises `InvalidDocument` for text that begins like JSON and is no list of messages, which is never a question.
    """
    if not _JSON_START.match(text):
        return text
    what = f"{sample.where}: the chat in the column {column}"
    chat = _parse_json_or_literal(text, what)
    if not isinstance(chat, list) or not all(isinstance(message, dict) for message in chat):
        raise InvalidDocument(f'{what} must be a list of messages: [{{"role": "user", "content": "…"}}]')
    return chat


def _without_answer(messages: tuple[Message, ...], sample: Sample, *, has_answer: bool) -> OpeningChat:
    last = messages[-1]
    if last.role is not MessageRole.ASSISTANT:
        return OpeningChat(messages)
    if has_answer:
        why = "it is the assistant's, and is sent as it is because the sample has another expected answer"
        sample.notes.change(sample.where, "last message", why)
        return OpeningChat(messages)
    if len(messages) == 1 or last.tool_calls:
        raise InvalidDocument(f"{sample.where} has a chat that ends with the assistant but has no answer in words")
    sample.notes.change(sample.where, "last message", "it is the assistant's, so it is the expected answer")
    return OpeningChat(messages[:-1], last.content)


def _parsed(value: Any, sample: Sample) -> Any:
    if not isinstance(value, str):
        return value
    start = _CHAT_START.match(value.lstrip())
    if not start or not _ROLE_KEY.search(value):
        return value
    return _parse_json_or_literal(value, f"{sample.where}: the chat")


def _parse_json_or_literal(text: str, what: str) -> Any:
    quote = _QUOTE.search(text)
    if quote and quote[0] == "'":
        return _literal(text.strip(), what)
    return from_json(text, what, refuse_duplicates=True)


def _literal(text: str, what: str) -> Any:
    if len(text) > _MAX_LITERAL:
        raise InvalidDocument(f"{what} is written as Python prints it and too long; write it with `json.dumps`")
    try:
        return to_plain_json(ast.literal_eval(text), what)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        raise InvalidDocument(f"{what} is neither JSON nor what Python prints; write it with `json.dumps`") from None


def _message(value: Any, sample: Sample) -> Message:
    where = sample.where
    if not isinstance(value, Mapping):
        raise InvalidDocument(f"{where} has a message that is not an object")
    named = str(value.get("role", value.get("from")))
    role = _ROLES.get(named.casefold())
    if role is None:
        raise InvalidDocument(f"{where} has a message of role {named[:40]}; known roles: {', '.join(_ROLES)}")
    if role is MessageRole.SYSTEM and (example := _EXAMPLE_ROLES.get(str(value.get("name")))):
        sample.notes.change(where, "few-shot example", f"{value['name']} is sent as a message of the {example}")
        role = example
    content, calls = value.get("content", value.get("value")), _tool_calls(value.get("tool_calls"), role, sample)
    if isinstance(content, list):
        try:
            message = read_content(content, role, sample.media)
        except NotImportable as error:
            raise InvalidDocument(f"{where}: {error}") from None
        if message.parts:
            return message
        content = message.content
    if calls and content is None:
        content = ""
    if role is MessageRole.TOOL:
        content = content if isinstance(content, str) else to_json(content)
        return Message(role, content, tool_call_id=str(value.get("tool_call_id") or ""))
    if not isinstance(content, str) or not (content.strip() or calls):
        raise InvalidDocument(f"{where} has a message whose content is not text or is empty")
    return Message(role, content, calls)


def _tool_calls(value: Any, role: MessageRole, sample: Sample) -> tuple[ToolCall, ...]:
    """Read calls in OpenAI's shape, or in Inspect's, where `function` is the name."""
    if not value:
        return ()
    if not isinstance(value, list) or role is not MessageRole.ASSISTANT:
        raise InvalidDocument(f"{sample.where}: only messages of the assistant may have a list tool_calls")
    return tuple(_tool_call(each, number, sample) for number, each in enumerate(value, start=1))


def _tool_call(value: Any, number: int, sample: Sample) -> ToolCall:
    call = value if isinstance(value, Mapping) else {}
    function = call.get("function")
    name, arguments = (
        (function.get("name"), function.get("arguments"))
        if isinstance(function, Mapping)
        else (function, call.get("arguments"))
    )
    if not isinstance(name, str) or not name:
        raise InvalidDocument(f"{sample.where} has a tool call without the name of its function")
    written = arguments if isinstance(arguments, str) else json.dumps(arguments or {}, ensure_ascii=False)
    return ToolCall(str(call.get("id") or f"call_{number}"), name, written)


def _check_calls(messages: tuple[Message, ...], sample: Sample) -> None:
    """Check that every result belongs to a call: providers refuse others."""
    made: set[str] = set()
    for message in messages:
        made |= {call.id for call in message.tool_calls}
        if message.role is MessageRole.TOOL and message.tool_call_id not in made:
            raise InvalidDocument(f"{sample.where} has a tool's result without the call that it answers")
