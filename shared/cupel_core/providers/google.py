"""Google generateContent."""

from urllib.parse import quote

from cupel_core.domain.turns.model_request import Conversation, ErrorCode, Message, Reply, Role, Usage
from cupel_core.providers.account import Account
from cupel_core.providers.errors import ProviderError
from cupel_core.providers.wire_format import CamelModel, WireRequest, endpoint, filtered, given, key_of

_ROLES = {Role.USER: "user", Role.ASSISTANT: "model"}

# Finish reasons that say the API withheld the answer.
_FILTERED = frozenset({"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY"})


def request_for(account: Account, model_name: str, conversation: Conversation) -> WireRequest:
    schema = conversation.json_schema
    config = given(
        temperature=conversation.temperature,
        maxOutputTokens=conversation.max_output_tokens,
        responseMimeType="application/json" if schema else None,
        # The older `responseSchema` is an OpenAPI subset that rejects e.g. `additionalProperties`.
        responseJsonSchema=schema,
    )
    body: dict[str, object] = {
        "contents": [_content(message) for message in conversation.exchanges],
        **given(systemInstruction=_instruction(conversation.system), generationConfig=config or None),
    }
    path = f"models/{quote(model_name, safe='')}:generateContent"
    key = key_of(account)
    return WireRequest(endpoint(account, path), body, {"x-goog-api-key": key} if key else {})


def _content(message: Message) -> dict[str, object]:
    return {"role": _ROLES[message.role], "parts": [{"text": message.content}]}


def _instruction(system: str | None) -> dict[str, object] | None:
    return {"parts": [{"text": system}]} if system else None


class _Part(CamelModel):
    text: str = ""
    thought: bool = False


class _Content(CamelModel):
    parts: tuple[_Part, ...] = ()


class _Candidate(CamelModel):
    content: _Content = _Content()
    finish_reason: str | None = None


class _Feedback(CamelModel):
    block_reason: str | None = None


class _Tokens(CamelModel):
    """Thinking is billed as output and counted apart."""

    prompt_token_count: int = 0
    candidates_token_count: int = 0
    thoughts_token_count: int = 0


class _Generation(CamelModel):
    candidates: tuple[_Candidate, ...] = ()
    prompt_feedback: _Feedback = _Feedback()
    usage_metadata: _Tokens = _Tokens()
    model_version: str | None = None


def parse(body: object) -> Reply:
    generation = _Generation.model_validate(body)
    if generation.prompt_feedback.block_reason:
        raise filtered(f"blockReason {generation.prompt_feedback.block_reason}")
    if not generation.candidates:
        raise ProviderError(ErrorCode.PROVIDER_ERROR, "the answer has no candidates")
    candidate = generation.candidates[0]
    if candidate.finish_reason in _FILTERED:
        raise filtered(f"finishReason {candidate.finish_reason}")
    text = "".join(part.text for part in candidate.content.parts if not part.thought)
    tokens = generation.usage_metadata
    usage = Usage(tokens.prompt_token_count, tokens.candidates_token_count + tokens.thoughts_token_count)
    return Reply(text, generation.model_version, usage, candidate.finish_reason)
