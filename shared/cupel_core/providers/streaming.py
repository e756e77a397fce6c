"""One attempt at a model call whose text arrives piece by piece."""

from functools import partial

from cupel_core.base.clock import utc_now
from cupel_core.domain.conversations.model_request import ModelRequest, Reply
from cupel_core.domain.text.reasoning import AnswerFilter
from cupel_core.providers import model_name_of, wire_format_of
from cupel_core.providers.account import Account
from cupel_core.providers.call_time import setting_up
from cupel_core.providers.completion import adapted_call, complete, sanitized
from cupel_core.providers.errors import ProviderError
from cupel_core.providers.streams.reply_stream import OnText
from cupel_core.providers.streams.support import SUPPORT, StreamOption


async def complete_streaming(
    account: Account, model: str, request: ModelRequest, timeout_seconds: float, on_text: OnText
) -> Reply:
    """The same as `complete`, and with the same errors; pieces of the text are passed to `on_text` as they arrive.

    A model that does not stream is called without, and so is an agent; its text is passed as a whole.
    """
    if StreamOption.STREAM not in SUPPORT.options(account, model) or wire_format_of(model) == "connector":
        reply = await complete(account, model, request, timeout_seconds)
        on_text(reply.text)
        return reply
    answer = AnswerFilter()
    keeps_reasoning = bool(request.parameters.keep_reasoning)

    def pass_on(text: str) -> None:
        if shown := text if keeps_reasoning else answer.feed(text):
            on_text(shown)

    call = partial(_stream, account, model, timeout_seconds, pass_on)
    reply = await adapted_call(account, model, request, timeout_seconds, call)
    if reply.text and not (keeps_reasoning or answer.has_begun):
        on_text(reply.text)
    return reply


async def _stream(
    account: Account, model: str, timeout_seconds: float, on_text: OnText, request: ModelRequest
) -> Reply:
    try:
        return await _call_provider(account, model, request, timeout_seconds, on_text)
    except ProviderError as error:
        raise SUPPORT.learn(account, model, sanitized(error, account)) from error.__cause__


async def _call_provider(
    account: Account, model: str, request: ModelRequest, timeout_seconds: float, on_text: OnText
) -> Reply:
    wire_format, name = wire_format_of(model), model_name_of(model)
    if wire_format == "sim":
        from cupel_core.providers import sim

        return await sim.stream(name, request, on_text)
    if wire_format == "bedrock":
        with setting_up():
            from cupel_core.providers.streams import bedrock

        return await bedrock.complete(account, name, request, timeout_seconds, utc_now(), on_text)
    with setting_up():
        from cupel_core.providers import http
        from cupel_core.providers.streams.formats import STREAM_FORMATS
        from cupel_core.providers.wire_formats import HTTP_WIRE_FORMATS

    return await http.exchange_stream(
        HTTP_WIRE_FORMATS[wire_format],
        STREAM_FORMATS[wire_format],
        account,
        name,
        request,
        timeout_seconds,
        utc_now(),
        on_text,
        with_usage=StreamOption.USAGE in SUPPORT.options(account, model),
    )
