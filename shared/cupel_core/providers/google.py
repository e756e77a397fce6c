"""Google generateContent."""

from urllib.parse import quote

from cupel_core.domain.turns.model_request import Message, MessageRole, ModelRequest, ProbeErrorCode, Reply, Usage
from cupel_core.providers.account import Account
from cupel_core.providers.errors import ProviderError
from cupel_core.providers.reply_limits import TokenCount
from cupel_core.providers.wire_format import (
    CamelModel,
    WireRequest,
    api_key_of,
    content_filtered_error,
    endpoint_url,
    without_none,
)

_ROLES = {MessageRole.USER: "user", MessageRole.ASSISTANT: "model"}

# Finish reasons that mean the API withheld the answer.
_FILTERED = frozenset({"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY"})


def request_for(account: Account, model_name: str, request: ModelRequest) -> WireRequest:
    schema = request.json_schema
    config = without_none(
        temperature=request.temperature,
        maxOutputTokens=request.max_output_tokens,
        responseMimeType="application/json" if schema else None,
        # The older `responseSchema` is an OpenAPI subset that rejects, for example, `additionalProperties`.
        responseJsonSchema=schema,
    )
    body: dict[str, object] = {
        "contents": [_content(message) for message in request.exchanges],
        **without_none(systemInstruction=_instruction(request.system), generationConfig=config or None),
    }
    path = f"models/{quote(model_name, safe='')}:generateContent"
    key = api_key_of(account)
    return WireRequest(endpoint_url(account, path), body, {"x-goog-api-key": key} if key else {})


def _content(message: Message) -> dict[str, object]:
    return {"role": _ROLES[message.role], "parts": [{"text": message.content}]}


def _instruction(system: str | None) -> dict[str, object] | None:
    return {"parts": [{"text": system}]} if system else None


class _Part(CamelModel):
    text: str = ""
    thought: bool = False


class _Content(CamelModel):
    parts: tuple[_Part, ...] = ()


class _GoogleCandidate(CamelModel):
    content: _Content = _Content()
    finish_reason: str | None = None


class _Feedback(CamelModel):
    block_reason: str | None = None


class _Tokens(CamelModel):
    """Thinking tokens are billed as output and counted separately."""

    prompt_token_count: TokenCount = 0
    candidates_token_count: TokenCount = 0
    thoughts_token_count: TokenCount = 0


class _GenerateContentResponse(CamelModel):
    candidates: tuple[_GoogleCandidate, ...] = ()
    prompt_feedback: _Feedback = _Feedback()
    usage_metadata: _Tokens = _Tokens()
    model_version: str | None = None


def parse(body: object) -> Reply:
    response = _GenerateContentResponse.model_validate(body)
    if response.prompt_feedback.block_reason:
        raise content_filtered_error(f"blockReason {response.prompt_feedback.block_reason}")
    if not response.candidates:
        raise ProviderError(ProbeErrorCode.PROVIDER_ERROR, "the response has no candidates")
    candidate = response.candidates[0]
    if candidate.finish_reason in _FILTERED:
        raise content_filtered_error(f"finishReason {candidate.finish_reason}")
    text = "".join(part.text for part in candidate.content.parts if not part.thought)
    tokens = response.usage_metadata
    usage = Usage(tokens.prompt_token_count, tokens.candidates_token_count + tokens.thoughts_token_count)
    return Reply(text, response.model_version, usage, candidate.finish_reason)
