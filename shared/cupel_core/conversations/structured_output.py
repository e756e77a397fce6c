"""The structured output of an answer: what an agent returned beside its text, or the JSON object that was requested."""

import json
from collections.abc import Mapping
from typing import Any

from cupel_core import sandbox
from cupel_core.domain.conversations.model_parameters import FormatType, ResponseFormat
from cupel_core.domain.conversations.model_request import Reply
from cupel_core.domain.text.json_limits import json_limit_error

_TASK = "cupel_core.scoring.schemas:violation"


async def output_of(reply: Reply, reply_format: ResponseFormat | None) -> Mapping[str, object] | None:
    """None also if the answer is not what was requested: that is for assertions to judge."""
    if reply.output or reply_format is None or reply_format.type is FormatType.TEXT:
        return reply.output
    answer = _json_object(reply.text)
    if answer is None or reply_format.schema is None:
        return answer
    return answer if await _satisfies(reply_format.schema, answer) else None


def _json_object(text: str) -> dict[str, Any] | None:
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return answer if isinstance(answer, dict) and json_limit_error(answer) is None else None


async def _satisfies(schema: Mapping[str, object], answer: Mapping[str, object]) -> bool:
    try:
        return await sandbox.run(_TASK, schema, answer) is None
    except (sandbox.ExpressionError, sandbox.SandboxFailed):  # The answer was paid for, so its probe goes on.
        return False
