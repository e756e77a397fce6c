import json
from collections.abc import Iterator, Mapping
from typing import Any

from cupel_core.base.errors import FieldError, Invalid
from cupel_core.definitions import assertions
from cupel_core.domain.definitions.definitions import Content, ContentIssue, content_errors
from cupel_core.providers import chat_model_error

MAX_CONTENT_BYTES = 256 * 1024
"""The maximum of its JSON in ASCII, as it is stored. A table item has at most 400 KB."""


def validate_content(data: Mapping[str, Any], *, allow_code: bool = False, has_scenarios: bool = False) -> Content:
    """Return the content from its JSON. Raise Invalid, naming each invalid field below `content`. It may be empty if
    the definition has scenarios."""
    if len(json.dumps(data)) > MAX_CONTENT_BYTES:
        raise Invalid.field("content", f"must have at most {MAX_CONTENT_BYTES // 1024} KB")
    errors = assertions.assertion_errors(data.get("assertions") or (), "content.assertions", allow_code=allow_code)
    content = Content.from_json({**data, "assertions": []} if errors else data)
    # Without its invalid assertions, the content may seem empty although its author wrote some.
    issues = [issue for issue in content_errors(content, has_scenarios=has_scenarios) if issue.field or not errors]
    _raise_if_any((*errors, *map(to_field_error, issues), *_judge_errors(content)))
    return content


def _judge_errors(content: Content) -> Iterator[FieldError]:
    model = content.decision.judge_model if content.decision else None
    if model is not None and (error := chat_model_error(model)):
        yield FieldError("content.decision.judgeModel", error)


def _raise_if_any(errors: tuple[FieldError, ...]) -> None:
    if errors:
        raise Invalid.fields(errors)


def to_field_error(issue: ContentIssue) -> FieldError:
    return FieldError(f"content.{issue.field}".rstrip("."), issue.message)
