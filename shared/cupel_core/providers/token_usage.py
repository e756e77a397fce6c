"""The tokens and the cost that a reply reports. Missing figures are unknown, not zero."""

from collections.abc import Mapping

from cupel_core.domain.conversations.model_request import Usage
from cupel_core.providers.reply_fields import mapping, number
from cupel_core.providers.reply_limits import MAX_COST_USD, token_count

COST_HEADER = "x-litellm-response-cost"
_USD_PER_TICK = 1e-10
"""xAI reports costs in ticks."""


def openai_usage(value: object) -> Usage | None:
    """Read the usage of chat completions and of the Responses API. Each server of these formats uses some of the names.
    Reasoning tokens are part of the output; xAI, and Gemini in this format, count them only in the total. Ollama's own
    format names its counts differently, and so do embeddings."""
    fields = mapping(value)
    prompt = _count(fields, "prompt_tokens", "input_tokens", "prompt_eval_count")
    output = _count(fields, "completion_tokens", "output_tokens", "eval_count")
    total = _count(fields, "total_tokens")
    cached = next(
        (
            count
            for details in ("prompt_tokens_details", "input_tokens_details")
            if (count := _count(mapping(fields.get(details)), "cached_tokens"))
        ),
        None,
    )
    # DeepSeek and Moonshot have names of their own.
    cached = cached or _count(fields, "prompt_cache_hit_tokens", "cached_tokens", "cache_read_input_tokens")
    return _usage(prompt, output, total, cached or 0)


def anthropic_usage(value: object) -> Usage | None:
    """Read Anthropic's usage. `input_tokens` does not include tokens read from or written to the prompt cache."""
    fields = mapping(value)
    return _with_cache(
        _count(fields, "input_tokens", "inputTokens"),
        _count(fields, "output_tokens", "outputTokens"),
        read=_count(fields, "cache_read_input_tokens", "cacheReadInputTokens") or 0,
        written=_count(fields, "cache_creation_input_tokens", "cacheWriteInputTokens") or 0,
    )


bedrock_usage = anthropic_usage
"""Converse counts as Anthropic does, in camelCase."""


def google_usage(value: object) -> Usage | None:
    """Read Google's usage. Thinking tokens are billed as output and counted separately; tokens of tools count as
    input."""
    fields = mapping(value)
    prompt, total = _count(fields, "promptTokenCount"), _count(fields, "totalTokenCount")
    answer, thoughts = _count(fields, "candidatesTokenCount"), _count(fields, "thoughtsTokenCount")
    if prompt is not None:
        prompt += _count(fields, "toolUsePromptTokenCount") or 0
    output = None if answer is None and thoughts is None else (answer or 0) + (thoughts or 0)
    return _usage(prompt, output, total, _count(fields, "cachedContentTokenCount") or 0)


def langchain_usage(value: object) -> Usage | None:
    """Read LangChain's usage. Cached tokens are part of the input, and reasoning tokens part of the output."""
    fields = mapping(value)
    details = mapping(fields.get("input_token_details"))
    usage = _usage(_count(fields, "input_tokens"), _count(fields, "output_tokens"), _count(fields, "total_tokens"), 0)
    if usage is None:
        return None
    read, written = _count(details, "cache_read") or 0, _count(details, "cache_creation") or 0
    return Usage(usage.input_tokens, usage.output_tokens, read, written)


def reported_cost_usd(usage: object) -> float | None:
    """Return the cost that the server reports: OpenRouter and Perplexity in US dollars, xAI in ticks. With a key of the
    caller's own at OpenRouter, `cost` is its fee alone, and the provider's price is beside it."""
    fields = mapping(usage)
    cost = fields.get("cost")
    own = _cost(mapping(cost).get("total_cost") if isinstance(cost, dict) else cost)
    upstream = _cost(mapping(fields.get("cost_details")).get("upstream_inference_cost"))
    if upstream is not None and (fields.get("is_byok") is True or upstream > (own or 0.0)):
        return (own or 0.0) + upstream
    ticks = number(fields.get("cost_in_usd_ticks"))
    return _cost(ticks * _USD_PER_TICK) if own is None and ticks is not None else own


def cost_in_headers(headers: Mapping[str, str]) -> float | None:
    """Return the cost of a call that LiteLLM's gateway reports in a header."""
    return _cost(headers.get(COST_HEADER))


def _cost(value: object) -> float | None:
    cost = number(value)
    return cost if cost is not None and 0 <= cost <= MAX_COST_USD else None


def _count(fields: Mapping[str, object], *names: str) -> int | None:
    for name in names:
        value = fields.get(name)
        if type(value) is int:
            return token_count(value)
        if value is not None and (counted := number(value)) is not None:
            return token_count(counted)
    return None


def _usage(prompt: int | None, output: int | None, total: int | None, cached: int) -> Usage | None:
    """Build the usage. If the total exceeds its parts, the rest counts as output."""
    if prompt is None and output is not None and total is not None:
        prompt = max(0, total - output)
    if total is not None and prompt is not None and total > prompt + (output or 0):
        output = total - prompt
    if not prompt and not output:
        return None
    return Usage(prompt or 0, output or 0, cached)


def _with_cache(uncached: int | None, output: int | None, *, read: int, written: int) -> Usage | None:
    if not (uncached or output or read or written):
        return None
    return Usage((uncached or 0) + read + written, output or 0, read, written)
