import json
from collections.abc import Iterable
from math import ceil

from cupel_core.domain.codec import encode
from cupel_core.domain.conversations.model_request import Message, ModelRequest
from cupel_core.domain.estimates.file_tokens import FileFormulas, file_tokens
from cupel_core.domain.text.token_counts import estimated_tokens

GRADER_OUTPUT_TOKENS = 4_096
"""A reply by a judge or a simulated user may have this many tokens in a run with a budget, unless its request has its
own limit. No grade is nearly as long."""
MIN_UNLIMITED_OUTPUT_TOKENS = 2_000
"""An answer without a limit has at least this much set aside."""
UNLIMITED_OUTPUT_FACTOR = 4.0
"""An answer without a limit may exceed the mean by this factor."""
_PER_MESSAGE = 16
_TOOLS_PREAMBLE = 600
"""Providers describe tools to a model in at most this many tokens; Anthropic's description is the longest, with about
500."""
_SCHEMA_PREAMBLE = 100
_UNLIMITED_INPUT_FACTOR = 1.3
_FILE_FACTOR = 2.0
"""The formulas for images and PDFs may be off by this factor."""


def max_input_tokens(request: ModelRequest, files: FileFormulas) -> int:
    """Return an upper bound: no tokenizer makes more tokens of a text than it has bytes. Tokens of files are estimated
    generously."""
    texts = sum(len(message.text.encode()) + _PER_MESSAGE for message in request.messages)
    return texts + _file_tokens(request.messages, files) + _described_bytes(request)


def expected_input_tokens(request: ModelRequest, files: FileFormulas) -> int:
    """Return a high estimate, for calls whose cost has no upper bound anyway."""
    texts = sum(estimated_tokens(message.text) + _PER_MESSAGE for message in request.messages)
    described = _described_bytes(request) / 2
    return round(_UNLIMITED_INPUT_FACTOR * (texts + described)) + _file_tokens(request.messages, files)


def unlimited_output_tokens(mean_output_tokens: float) -> int:
    """Return what is set aside for an answer without a limit, given the mean tokens of earlier answers."""
    return max(MIN_UNLIMITED_OUTPUT_TOKENS, round(UNLIMITED_OUTPUT_FACTOR * mean_output_tokens))


def _described_bytes(request: ModelRequest) -> int:
    """Return the bytes of the functions and of the answer's schema, which are parts of the prompt."""
    tools, schema = request.parameters.tools, request.json_schema
    described = [encode(tool) for tool in tools] + ([schema] if schema else [])
    preambles = _TOOLS_PREAMBLE * bool(tools) + _SCHEMA_PREAMBLE * request.wants_json
    return sum(len(json.dumps(each).encode()) for each in described) + preambles


def _file_tokens(messages: Iterable[Message], formulas: FileFormulas) -> int:
    tokens = file_tokens((part for message in messages if message.parts for part in message.files), formulas)
    return ceil(_FILE_FACTOR * (tokens.images + tokens.pdfs))
