from enum import StrEnum


class ReplyEnd(StrEnum):
    COMPLETE = "complete"
    CUT = "cut"
    FILTERED = "filtered"
    FAILED = "failed"
    UNKNOWN = "unknown"


_COMPLETE = (
    # OpenAI's chat completions, and servers of that format
    *("stop", "tool_calls", "function_call", "eos", "eos_token", "stop_sequence", "stop_token", "complete", "done"),
    *("completed", "tool_call", "stopped"),
    # Anthropic, Bedrock
    *("end_turn", "tool_use", "pause_turn"),
)
_CUT = (
    *("length", "max_tokens", "max_output_tokens", "model_length", "max_length", "limit", "error_limit"),
    *("incomplete", "model_context_window_exceeded", "max_completion_tokens"),
)
_FILTERED = (
    # OpenAI, Cohere, Anthropic, Bedrock
    *("content_filter", "error_toxic", "refusal", "guardrail_intervened", "content_filtered"),
    # Google
    *("safety", "recitation", "blocklist", "prohibited_content", "spii", "image_safety", "image_prohibited_content"),
    *("image_recitation", "model_armor"),
)
_FAILED = (
    # Mistral, OpenRouter, Cohere; vLLM and SGLang; DeepSeek; the Responses API
    *("error", "abort", "aborted", "user_cancel", "insufficient_system_resource", "failed", "cancelled", "canceled"),
    *("in_progress", "queued", "timeout"),
    # Google, Bedrock
    *("malformed_function_call", "unexpected_tool_call", "too_many_tool_calls", "malformed_response"),
    *("missing_thought_signature", "malformed_model_output", "malformed_tool_use"),
)
_ENDS = {
    reason: end
    for end, reasons in (
        (ReplyEnd.COMPLETE, _COMPLETE),
        (ReplyEnd.CUT, _CUT),
        (ReplyEnd.FILTERED, _FILTERED),
        (ReplyEnd.FAILED, _FAILED),
    )
    for reason in reasons
}
"""The reasons are in lower case. All formats share one list, because gateways mix the reasons of several formats."""


def end_of(reason: str | None) -> ReplyEnd:
    """Return the meaning of a reason. Text after a colon is a detail, as in `content_filter: PROHIBITED_CONTENT`."""
    if reason is None:
        return ReplyEnd.UNKNOWN
    return _ENDS.get(reason) or _ENDS.get(reason.partition(":")[0].strip().lower(), ReplyEnd.UNKNOWN)
