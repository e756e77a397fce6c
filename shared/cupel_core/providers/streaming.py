"""One attempt at a model call whose text arrives piece by piece.

An option of streaming that a model has rejected is remembered: the next attempt omits it, and so do later ones of this
process in the same scope.
"""

import re
from collections import OrderedDict
from enum import StrEnum
from functools import partial

from cupel_core.base.clock import utc_now
from cupel_core.domain.conversations.model_request import ModelRequest, ProbeErrorCode, Reply
from cupel_core.domain.text.reasoning import AnswerFilter
from cupel_core.providers import model_name_of, wire_format_of
from cupel_core.providers.account import Account
from cupel_core.providers.adaptation import MAX_REMEMBERED_MODELS, is_rejection
from cupel_core.providers.call_time import setting_up
from cupel_core.providers.completion import adapted_call, complete, sanitized
from cupel_core.providers.errors import ParameterRejected, ProviderError
from cupel_core.providers.streams.reply_stream import OnText


class StreamOption(StrEnum):
    STREAM = "stream"
    """A model that rejects this is called without streaming."""
    USAGE = "stream_options"
    """The request for the usage. Without it, some servers report none."""


type StreamOptions = frozenset[StreamOption]

_NONE: StreamOptions = frozenset()
_ALL = frozenset(StreamOption)
_ALWAYS_WITH_USAGE = frozenset({"mistral"})
"""Providers that refuse the request for the usage, which they always send."""
_USAGE_NAME = re.compile(r"stream_?options|include_?usage", re.I)
_STREAM_NAME = re.compile(r"\bstream(s|ed|ing)?\b", re.I)
# OpenAI refuses it to some accounts, and AWS to a role that may only call models without streaming.
_NOT_PERMITTED = re.compile(r"must be verified to stream|InvokeModelWithResponseStream", re.I)


class StreamSupport:
    """Remembers which options models reject. It is bounded: the model used longest ago is forgotten first."""

    def __init__(self, max_models: int = MAX_REMEMBERED_MODELS) -> None:
        self._max_models = max_models
        self._rejected: OrderedDict[tuple[str, str, str, str], StreamOptions] = OrderedDict()

    def options(self, account: Account, model: str) -> StreamOptions:
        """Return the options of streaming that the model accepts, as far as is known."""
        key = account.scope, account.provider, account.base_url, model
        rejected = self._rejected.get(key, _NONE)
        if rejected:
            self._rejected.move_to_end(key)
        known = frozenset({StreamOption.USAGE}) if account.provider in _ALWAYS_WITH_USAGE else _NONE
        return _ALL - rejected - known

    def learn(self, account: Account, model: str, error: ProviderError) -> ProviderError:
        """Return the error of an attempt to stream. If it rejects that, remember it and return ParameterRejected."""
        option = _rejected_option(error)
        if option is None or option not in self.options(account, model):
            return error
        key = account.scope, account.provider, account.base_url, model
        self._rejected[key] = self._rejected.get(key, _NONE) | {option}
        self._rejected.move_to_end(key)
        if len(self._rejected) > self._max_models:
            self._rejected.popitem(last=False)
        return ParameterRejected(error)


def _rejected_option(error: ProviderError) -> StreamOption | None:
    may_refuse = error.code in (ProbeErrorCode.INVALID_REQUEST, ProbeErrorCode.AUTH)
    if may_refuse and _NOT_PERMITTED.search(error.message):
        return StreamOption.STREAM
    if not is_rejection(error):
        return None
    if _USAGE_NAME.search(error.message):
        return StreamOption.USAGE
    return StreamOption.STREAM if _STREAM_NAME.search(error.message) else None


SUPPORT = StreamSupport()


async def complete_streaming(
    account: Account, model: str, request: ModelRequest, timeout_seconds: float, on_text: OnText
) -> Reply:
    """Complete a call like `complete`, with the same errors, and pass pieces of the text to `on_text` as they arrive. A
    model that does not stream, or an agent, is called without; its text is passed as a whole."""
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
