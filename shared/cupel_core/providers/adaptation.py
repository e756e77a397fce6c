"""Adaptation of requests to what a model accepts.

Models differ in the parameters they accept, and no maintained list says which (docs/decisions.md). Few are known here;
for the others, the provider's refusal names the parameter. The next attempt leaves it out, and so do later requests of
this process to that model in the same scope: a run, or else a workspace. A schema, tools and the like are refused for
their content, so only identical ones are left out. A limit of tokens is first sent under its other name.
"""

import re
from collections import OrderedDict
from dataclasses import replace
from hashlib import sha256
from typing import NamedTuple

import orjson

from cupel_core.domain.codec import encode
from cupel_core.domain.conversations.model_parameters import ModelParameters
from cupel_core.domain.conversations.model_request import (
    Message,
    MessageRole,
    ModelRequest,
    ProbeErrorCode,
    Reply,
    RequestParameter,
)
from cupel_core.domain.conversations.parts import TextPart
from cupel_core.providers import model_name_of, provider_of
from cupel_core.providers.account import Account
from cupel_core.providers.errors import ParameterRejected, ProviderError
from cupel_core.providers.wire_format import json_instruction

type Parameters = frozenset[RequestParameter]

MAX_REMEMBERED_MODELS = 1_000
MAX_REMEMBERED_REFUSALS = 100
_NONE: Parameters = frozenset()
_TEMPERATURE = frozenset({RequestParameter.TEMPERATURE})
_SYSTEM_ROLE = frozenset({RequestParameter.SYSTEM_ROLE})
_SYSTEM_ROLE_AND_SCHEMA = frozenset({RequestParameter.SYSTEM_ROLE, RequestParameter.JSON_SCHEMA})


class _KnownFamily(NamedTuple):
    provider: str
    names: str
    rejected: Parameters


_KNOWN_FAMILIES = (
    _KnownFamily("openai", r"o[134](-.*)?|gpt-5(-mini|-nano|-pro|-codex)?(-\d{4}-\d\d-\d\d)?", _TEMPERATURE),
    _KnownFamily("openai", r"o1-(mini|preview).*", _SYSTEM_ROLE_AND_SCHEMA),
    # This model accepts a temperature and ignores it.
    _KnownFamily("deepseek", r"deepseek-reasoner", _TEMPERATURE),
    _KnownFamily("google", r"gemma-3.*", _SYSTEM_ROLE_AND_SCHEMA),
    _KnownFamily(
        "bedrock",
        r"(amazon\.titan-text|mistral\.mi[sx]tral-[78]x?7?b|cohere\.command-(light-)?text|ai21\.j2)-.*",
        _SYSTEM_ROLE,
    ),
)

_FIELDS = {
    RequestParameter.TEMPERATURE: "temperature",
    RequestParameter.TOP_P: "top_p",
    RequestParameter.TOP_K: "top_k",
    RequestParameter.MAX_OUTPUT_TOKENS: "max_output_tokens",
    RequestParameter.STOP: "stop",
    RequestParameter.SEED: "seed",
    RequestParameter.FREQUENCY_PENALTY: "frequency_penalty",
    RequestParameter.PRESENCE_PENALTY: "presence_penalty",
    RequestParameter.REASONING_EFFORT: "reasoning_effort",
    RequestParameter.TOOLS: "tools",
    RequestParameter.TOOL_CHOICE: "tool_choice",
}
"""The field of `ModelParameters` for each parameter that can simply be left out."""

_NAMES = {
    RequestParameter.TEMPERATURE: r"temperature",
    RequestParameter.TOP_P: r"\btop_?p\b",
    RequestParameter.TOP_K: r"\btop_?k\b",
    RequestParameter.STOP: r"\bstop(_?sequences)?\b",
    RequestParameter.SEED: r"\b(random_)?seed\b",
    RequestParameter.FREQUENCY_PENALTY: r"frequency_?penalty|\bpenalty is not",
    RequestParameter.PRESENCE_PENALTY: r"presence_?penalty|\bpenalty is not",
    RequestParameter.REASONING_EFFORT: (
        r"reasoning_?effort|reasoning\.effort|\bthinking|output_?config\.effort|\beffort\b"
    ),
    RequestParameter.TOOLS: r"\btools?\b|tool_?config|function[_ ]?(calling|declarations)|tool use",
    RequestParameter.TOOL_CHOICE: r"tool_?choice|function_?calling_?config",
    RequestParameter.MAX_OUTPUT_TOKENS: r"max_?(completion_?|output_?|new_?)?tokens",
    RequestParameter.SYSTEM_ROLE: (
        r"\bsystem['\"`]?[\s_]?(role|message|prompt|instruction)|developer instruction|does not support 'system'"
        r"|roles must alternate|value 'system' at"
    ),
    RequestParameter.JSON_SCHEMA: (
        r"response[_ ]format|json[_ ]schema|json_object|json mode|response_?mime_?type|response_?(json_?)?schema"
        r"|structured output|output_?config(?!\.effort)|text_?format|tool_choice|\btools?\b"
    ),
}
"""The expressions by which a refusal names each parameter. `re` compiles them with the first refusal."""
_REJECTION = (
    r"not support|n['\u2019]t support|unsupported|not enabled|not compatible|incompatible|deprecated|not permitted"
    r"|not allowed|is allowed for this model|unavailable|unrecognized|not one of the allowed values"
    r"|unknown (parameter|name|field|argument)|extra inputs|cannot both be specified|must alternate|enum value set"
)


def rejected_parameter(error: ProviderError, request: ModelRequest) -> RequestParameter | None:
    """Return the parameter of the request that the provider refused by name, or None for any other error. A refusal may
    name a second one as the replacement, so the first one counts."""
    if not is_rejection(error):
        return None
    found = ((re.search(_NAMES[parameter], error.message, re.I), parameter) for parameter in _parameters_of(request))
    positions = [(match.start(), parameter) for match, parameter in found if match]
    return min(positions)[1] if positions else None


def is_rejection(error: ProviderError) -> bool:
    """Return whether the provider says that something in the request is not possible."""
    return error.code is ProbeErrorCode.INVALID_REQUEST and re.search(_REJECTION, error.message, re.I) is not None


def _parameters_of(request: ModelRequest) -> Parameters:
    """Return the parameters of the request. Where an API has no schemas, the schema is part of the system prompt."""
    fields = request.parameters
    present = {parameter for parameter, name in _FIELDS.items() if getattr(fields, name) not in (None, ())}
    if request.wants_json or request.system is not None:
        present.add(RequestParameter.SYSTEM_ROLE)
    if request.wants_json:
        present.add(RequestParameter.JSON_SCHEMA)
    return frozenset(present)


def without(request: ModelRequest, omitted: Parameters) -> ModelRequest:
    """Return the request without these parameters. A schema moves to the system prompt, and a system prompt to the
    first user message. A model without a system role gets the schema there too, as some APIs have no other place for
    it."""
    absent = ModelParameters()
    request = request.with_parameters(
        **{name: getattr(absent, name) for parameter, name in _FIELDS.items() if parameter in omitted}
    )
    if request.wants_json and omitted & _SYSTEM_ROLE_AND_SCHEMA:
        system = "\n\n".join(filter(None, (request.system, json_instruction(request.json_schema))))
        messages = (Message(MessageRole.SYSTEM, system), *request.exchanges)
        request = replace(request, messages=messages).with_parameters(response_format=None)
    if RequestParameter.SYSTEM_ROLE in omitted and request.system is not None:
        request = replace(request, messages=_fold(request.system, request.exchanges))
    return request


def _fold(system: str, exchanges: tuple[Message, ...]) -> tuple[Message, ...]:
    first, *others = exchanges or (Message(MessageRole.USER, ""),)
    if first.role is not MessageRole.USER:
        return (Message(MessageRole.USER, system), first, *others)
    if first.parts:
        return (Message.of_parts(MessageRole.USER, (TextPart(system), *first.parts)), *others)
    return (Message(MessageRole.USER, f"{system}\n\n{first.content}".strip()), *others)


class _RefusedParameter(NamedTuple):
    parameter: RequestParameter
    content: str = ""
    """A digest of the refused content, if the parameter was refused for its content."""


_LIMIT_NAME = _RefusedParameter(RequestParameter.MAX_OUTPUT_TOKENS, "name")
"""The refusal of the name under which the limit was sent. The other name is tried next."""
_OTHER_LIMIT_NAMES = r"max_completion_tokens|max_tokens"


class Adaptation(NamedTuple):
    """The omitted parts of a request, and whether its limit of tokens has its other name."""

    omitted: Parameters = _NONE
    renames_limit: bool = False

    def apply(self, request: ModelRequest) -> ModelRequest:
        adapted = without(request, self.omitted) if self.omitted else request
        return replace(adapted, renames_limit=True) if self.renames_limit else adapted


class Adapter:
    """Remembers what each model has rejected. It is bounded: the model used longest ago is forgotten first."""

    def __init__(self, max_models: int = MAX_REMEMBERED_MODELS) -> None:
        self._max_models = max_models
        self._refused: OrderedDict[tuple[str, str, str, str], OrderedDict[_RefusedParameter, None]] = OrderedDict()

    def adaptation(self, account: Account, model: str, request: ModelRequest) -> Adaptation:
        """Return the changes that the request needs to be accepted, as far as is known."""
        key = _key(account, model)
        refused = self._refused.get(key)
        present = _parameters_of(request)
        if refused is None:
            return Adaptation(_known(model, request) & present)
        self._refused.move_to_end(key)
        remembered = frozenset(each for each in present if _refusal(each, request) in refused)
        return Adaptation((remembered | _known(model, request)) & present, _LIMIT_NAME in refused)

    def omitted(self, account: Account, model: str, request: ModelRequest) -> Parameters:
        return self.adaptation(account, model, request).omitted

    def learn(
        self, account: Account, model: str, request: ModelRequest, adaptation: Adaptation, error: ProviderError
    ) -> ProviderError:
        """Return the error of an attempt. If it rejects a sent parameter, remember that and return
        ParameterRejected."""
        parameter = rejected_parameter(error, adaptation.apply(request))
        if parameter is None or parameter in adaptation.omitted:
            return error
        refusal = _refusal(parameter, request)
        if parameter is RequestParameter.MAX_OUTPUT_TOKENS and not adaptation.renames_limit and _names_both(error):
            refusal = _LIMIT_NAME
        key = _key(account, model)
        refused = self._refused.setdefault(key, OrderedDict())
        refused[refusal] = None
        if len(refused) > MAX_REMEMBERED_REFUSALS:
            refused.popitem(last=False)
        self._refused.move_to_end(key)
        if len(self._refused) > self._max_models:
            self._refused.popitem(last=False)
        return ParameterRejected(error)


def _key(account: Account, model: str) -> tuple[str, str, str, str]:
    return account.scope, account.provider, account.base_url, model


def _names_both(error: ProviderError) -> bool:
    return len({name.lower() for name in re.findall(_OTHER_LIMIT_NAMES, error.message, re.I)}) > 1


def _refusal(parameter: RequestParameter, request: ModelRequest) -> _RefusedParameter:
    fields = request.parameters
    match parameter:
        case RequestParameter.JSON_SCHEMA:
            return _RefusedParameter(parameter, _digest(request.json_schema))
        case RequestParameter.TOOLS | RequestParameter.TOOL_CHOICE:
            return _RefusedParameter(
                parameter, _digest([[encode(tool) for tool in fields.tools], repr(fields.tool_choice)])
            )
        case RequestParameter.STOP:
            return _RefusedParameter(parameter, _digest(fields.stop))
        case RequestParameter.REASONING_EFFORT:
            return _RefusedParameter(parameter, str(fields.reasoning_effort))
    return _RefusedParameter(parameter)


def _digest(value: object) -> str:
    return sha256(orjson.dumps(value, option=orjson.OPT_SORT_KEYS)).hexdigest()


def _known(model: str, request: ModelRequest) -> Parameters:
    provider, name = provider_of(model).name, model_name_of(model)
    rejected = _NONE
    for family in _KNOWN_FAMILIES:
        if family.provider == provider and re.fullmatch(family.names, name):
            rejected |= family.rejected
    # Those that reject a temperature accept their default.
    is_default = request.parameters.temperature == 1 and provider == "openai"
    return rejected - _TEMPERATURE if is_default else rejected


def with_omitted(reply: Reply, omitted: Parameters) -> Reply:
    return replace(reply, omitted_parameters=tuple(sorted(omitted))) if omitted else reply


ADAPTER = Adapter()
