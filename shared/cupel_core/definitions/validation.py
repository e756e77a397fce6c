"""Validation of a definition's content."""

import json
from collections.abc import Mapping
from typing import Any

from cupel_core.definitions import assertions
from cupel_core.domain.definitions.definitions import Content, ContentIssue, content_errors
from cupel_core.domain.resources.connectors import PROVIDER as CONNECTOR
from cupel_core.errors import FieldError, Invalid
from cupel_core.providers import PROVIDERS

_MODEL_PROVIDERS = tuple(name for name in PROVIDERS if name != CONNECTOR)
MAX_CONTENT_BYTES = 256 * 1024
"""Of its JSON in ASCII, as it is stored. A table item has at most 400 KB."""


def validate_content(data: Mapping[str, Any]) -> Content:
    """The content from its JSON. Raises Invalid, naming each invalid field below `content`."""
    if len(json.dumps(data)) > MAX_CONTENT_BYTES:
        raise Invalid.field("content", f"must have at most {MAX_CONTENT_BYTES // 1024} KB")
    _raise_if_any(assertions.assertion_errors(data.get("assertions") or (), "content.assertions"))
    content = Content.from_json(data)
    _raise_if_any(tuple(map(to_field_error, content_errors(content, _MODEL_PROVIDERS))))
    return content


def _raise_if_any(errors: tuple[FieldError, ...]) -> None:
    if errors:
        raise Invalid.fields(errors)


def to_field_error(issue: ContentIssue) -> FieldError:
    return FieldError(f"content.{issue.field}".rstrip("."), issue.message)
