"""Remembers which options of streaming models have rejected. The next attempt omits them, and so do later ones of
this process in the same scope."""

import re
from collections import OrderedDict
from enum import StrEnum

from cupel_core.domain.conversations.model_request import ProbeErrorCode
from cupel_core.providers.account import Account
from cupel_core.providers.adaptation import MAX_REMEMBERED_MODELS, is_rejection
from cupel_core.providers.errors import ParameterRejected, ProviderError


class StreamOption(StrEnum):
    STREAM = "stream"
    """Such a model is called without streaming."""
    USAGE = "stream_options"
    """The request for the usage. Without it, some servers report none."""


type StreamOptions = frozenset[StreamOption]

_NONE: StreamOptions = frozenset()
_ALL = frozenset(StreamOption)
_ALWAYS_WITH_USAGE = frozenset({"mistral"})
"""Providers that refuse the request for it."""
_USAGE_NAME = re.compile(r"stream_?options|include_?usage", re.I)
_STREAM_NAME = re.compile(r"\bstream(s|ed|ing)?\b", re.I)
# OpenAI of some accounts; AWS of a role that may only call models without streaming.
_NOT_PERMITTED = re.compile(r"must be verified to stream|InvokeModelWithResponseStream", re.I)


class StreamSupport:
    """Bounded: the model used longest ago is forgotten first."""

    def __init__(self, max_models: int = MAX_REMEMBERED_MODELS) -> None:
        self._max_models = max_models
        self._rejected: OrderedDict[tuple[str, str, str, str], StreamOptions] = OrderedDict()

    def options(self, account: Account, model: str) -> StreamOptions:
        """What of streaming the model accepts, as far as is known."""
        key = account.scope, account.provider, account.base_url, model
        rejected = self._rejected.get(key, _NONE)
        if rejected:
            self._rejected.move_to_end(key)
        known = frozenset({StreamOption.USAGE}) if account.provider in _ALWAYS_WITH_USAGE else _NONE
        return _ALL - rejected - known

    def learn(self, account: Account, model: str, error: ProviderError) -> ProviderError:
        """The error of an attempt to stream; if it rejects that, this is remembered and ParameterRejected is
        returned."""
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
"""The process's own."""
