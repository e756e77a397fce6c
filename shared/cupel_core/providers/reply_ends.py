from dataclasses import replace

from cupel_core.domain.conversations.model_request import ProbeErrorCode, Reply, Usage
from cupel_core.domain.conversations.reply_ends import ReplyEnd, end_of
from cupel_core.domain.text.reasoning import separate_reasoning
from cupel_core.providers.errors import ProviderError
from cupel_core.providers.reply_fields import joined


def answer_of(reply: Reply, *, keeps_reasoning: bool = False) -> Reply:
    """Return the reply without the reasoning in its text, which is stored separately unless `keeps_reasoning`. Raise
    `ProviderError` if it ended in a way that makes it no answer."""
    if not keeps_reasoning:
        answer, reasoning = separate_reasoning(reply.text)
        if reasoning:
            reply = replace(reply, text=answer, reasoning=joined((reply.reasoning, reasoning)))
    check_end("has calls" if reply.tool_calls else reply.text, reply.finish_reason, reply.usage, reply.cost_usd)
    return reply


def marked_as_cut(reply: Reply, limit: int) -> Reply:
    """Return the reply as a cut one, if it has as many tokens as its request allows and the server calls it complete. A
    complete answer that happens to have exactly that many tokens is marked too, because it looks the same. Calls are
    left as they are, because a cut one is no JSON."""
    is_complete = end_of(reply.finish_reason) is ReplyEnd.COMPLETE and not reply.tool_calls
    if not is_complete or reply.usage is None or reply.usage.output_tokens < limit:
        return reply
    return replace(reply, finish_reason="length")


def check_end(text: str, reason: str | None, usage: Usage | None, cost_usd: float | None) -> None:
    """Raise `ProviderError` for an end that is the server's failure, and for no answer at an unknown end. An answer
    that its limit of tokens cut before it began says nothing about the model, and a retry does not help. A reply
    without a reason, such as an agent's, is accepted."""
    if reason is None:
        return
    end = end_of(reason)
    if end is ReplyEnd.FAILED or (end is ReplyEnd.UNKNOWN and not text.strip()):
        message = f"the server ended the reply with the reason {reason}"
        raise ProviderError(ProbeErrorCode.PROVIDER_ERROR, message, usage=usage, cost_usd=cost_usd)
    if end is ReplyEnd.CUT and not text.strip():
        used = f" after {usage.output_tokens:,} tokens" if usage is not None else ""
        message = f"the limit of tokens cut the reply{used}, before an answer began (reason {reason})"
        raise ProviderError(ProbeErrorCode.PROVIDER_ERROR, message, final=True, usage=usage, cost_usd=cost_usd)
