"""Responses within Lambda's limit of 6 MB: of a single record, the longest texts are cut."""

from typing import Any

import orjson

from cupel_core.base.errors import TooLarge
from cupel_core.contract.common import ResponseModel

MAX_PAGE_BYTES = 5_000_000
"""A page's items have at most this many bytes as Lambda sends them: the response is a string in the function's JSON."""
_MIN_TEXT_LENGTH = 1_000


def render_model(model: ResponseModel) -> bytes:
    return model.__pydantic_serializer__.to_json(model, by_alias=True)


def bounded_record(record: ResponseModel) -> bytes:
    """The JSON of a record; if it alone exceeds MAX_PAGE_BYTES, with its longest texts cut to the same length."""
    json = render_model(record)
    return json if payload_bytes(json) <= MAX_PAGE_BYTES else bounded_json(orjson.loads(json))


def bounded_json(content: Any) -> bytes:
    """The JSON; if it alone exceeds MAX_PAGE_BYTES, with its longest texts cut to the same length."""
    json, length = orjson.dumps(content), MAX_PAGE_BYTES // 2
    while payload_bytes(json) > MAX_PAGE_BYTES:
        if length < _MIN_TEXT_LENGTH:
            raise TooLarge("this record is too large for a response")
        json = orjson.dumps(_cut_texts(content, length))
        length //= 2
    return json


def payload_bytes(json: bytes) -> int:
    """Quotes and backslashes of the response's JSON are escaped once more where it becomes a JSON string."""
    return len(json) + json.count(b'"') + json.count(b"\\")


def _cut_texts(value: Any, length: int) -> Any:
    if isinstance(value, str) and len(value) > length:
        return f"{value[:length]}… [cut: {len(value):,} characters]"
    if isinstance(value, dict):
        return {name: _cut_texts(each, length) for name, each in value.items()}
    return [_cut_texts(each, length) for each in value] if isinstance(value, list) else value
