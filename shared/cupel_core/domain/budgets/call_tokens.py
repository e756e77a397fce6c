"""How many tokens a call has at most, before it is made."""

import json
from collections.abc import Iterable
from math import ceil

from cupel_core.domain.codec import encode
from cupel_core.domain.conversations.model_request import Message, ModelRequest
from cupel_core.domain.estimates.file_tokens import FileFormulas, file_tokens
from cupel_core.domain.text.token_counts import estimated_tokens

GRADER_OUTPUT_TOKENS = 4_096
"""Of a reply by a judge or a simulated user in a run with a budget, unless its request has a limit of its own. No grade
is nearly as long."""
MIN_UNLIMITED_OUTPUT_TOKENS = 2_000
"""Of an answer without a limit, what is set aside at least."""
UNLIMITED_OUTPUT_FACTOR = 4.0
"""By which such an answer may exceed the mean."""
_PER_MESSAGE = 16
_TOOLS_PREAMBLE = 600
"""What providers tell a model about its tools; Anthropic's is the longest, with about 500 tokens."""
_SCHEMA_PREAMBLE = 100
_UNLIMITED_INPUT_FACTOR = 1.3
_FILE_FACTOR = 2.0
"""By which the formulas for images and PDFs may be off."""


def max_input_tokens(request: ModelRequest, files: FileFormulas) -> int:
    """No tokenizer makes more tokens of a text than it has bytes. Those of files are estimated, generously."""
    texts = sum(len(message.text.encode()) + _PER_MESSAGE for message in request.messages)
    return texts + _file_tokens(request.messages, files) + _described_bytes(request)


def expected_input_tokens(request: ModelRequest, files: FileFormulas) -> int:
    """Rather too many than too few, for calls whose cost has no upper bound anyway."""
    texts = sum(estimated_tokens(message.text) + _PER_MESSAGE for message in request.messages)
    described = _described_bytes(request) / 2
    return round(_UNLIMITED_INPUT_FACTOR * (texts + described)) + _file_tokens(request.messages, files)


def unlimited_output_tokens(mean_output_tokens: float) -> int:
    """What is set aside for an answer without a limit. Answers have had this many tokens on average."""
    return max(MIN_UNLIMITED_OUTPUT_TOKENS, round(UNLIMITED_OUTPUT_FACTOR * mean_output_tokens))


def _described_bytes(request: ModelRequest) -> int:
    """Of the functions and the schema of the answer, which are parts of the prompt."""
    tools, schema = request.parameters.tools, request.json_schema
    described = [encode(tool) for tool in tools] + ([schema] if schema else [])
    preambles = _TOOLS_PREAMBLE * bool(tools) + _SCHEMA_PREAMBLE * request.wants_json
    return sum(len(json.dumps(each).encode()) for each in described) + preambles


def _file_tokens(messages: Iterable[Message], formulas: FileFormulas) -> int:
    tokens = file_tokens((part for message in messages if message.parts for part in message.files), formulas)
    return ceil(_FILE_FACTOR * (tokens.images + tokens.pdfs))
