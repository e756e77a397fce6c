"""Whether a content can be a definition's."""

import json
from collections.abc import Mapping
from typing import Any

from cupel_core.definitions import assertions
from cupel_core.domain.definitions.definitions import Content, Finding, errors_of
from cupel_core.domain.resources.connectors import PROVIDER as CONNECTOR
from cupel_core.errors import FieldError, Invalid
from cupel_core.providers import PROVIDERS

_OF_MODELS = tuple(name for name in PROVIDERS if name != CONNECTOR)
MAX_CONTENT_BYTES = 256 * 1024
"""As it is stored, in ASCII. An item of the table holds 400 KB."""


def check(data: Mapping[str, Any]) -> Content:
    """The content that this JSON is; Invalid names each field below `content` that breaks a rule."""
    if len(json.dumps(data)) > MAX_CONTENT_BYTES:
        raise Invalid.field("content", f"must have at most {MAX_CONTENT_BYTES // 1024} KB")
    _refuse(assertions.errors_of(data.get("assertions") or (), "content.assertions"))
    content = Content.from_json(data)
    _refuse(tuple(map(as_field, errors_of(content, _OF_MODELS))))
    return content


def _refuse(errors: tuple[FieldError, ...]) -> None:
    if errors:
        raise Invalid("; ".join(f"{error.field}: {error.message}" for error in errors[:5]), errors)


def as_field(finding: Finding) -> FieldError:
    return FieldError(f"content.{finding.field}".rstrip("."), finding.message)
