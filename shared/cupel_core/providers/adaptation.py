"""Requests adapted to what a model accepts.

Models differ in the parameters they accept, and no maintained list says which (docs/decisions.md). Few are known here;
for the others, the provider's refusal names the parameter. The next attempt leaves it out, and so do all later requests
of this process to that model.
"""

import re
from collections import OrderedDict
from dataclasses import replace
from typing import NamedTuple

from cupel_core.domain.turns.model_parameters import ModelParameters
from cupel_core.domain.turns.model_request import (
    Message,
    MessageRole,
    ModelRequest,
    ProbeErrorCode,
    Reply,
    RequestParameter,
)
from cupel_core.domain.turns.parts import TextPart
from cupel_core.providers import model_name_of, provider_of
from cupel_core.providers.account import Account
from cupel_core.providers.errors import ParameterRejected, ProviderError
from cupel_core.providers.wire_format import json_instruction

type Parameters = frozenset[RequestParameter]

MAX_REMEMBERED_MODELS = 1_000
_NONE: Parameters = frozenset()
_TEMPERATURE = frozenset({RequestParameter.TEMPERATURE})
_SYSTEM_ROLE = frozenset({RequestParameter.SYSTEM_ROLE})
_SYSTEM_ROLE_AND_SCHEMA = frozenset({RequestParameter.SYSTEM_ROLE, RequestParameter.JSON_SCHEMA})


class _KnownFamily(NamedTuple):
    provider: str
    names: re.Pattern[str]
    rejected: Parameters


_KNOWN_FAMILIES = (
    _KnownFamily(
        "openai", re.compile(r"o[134](-.*)?|gpt-5(-mini|-nano|-pro|-codex)?(-\d{4}-\d\d-\d\d)?"), _TEMPERATURE
    ),
    _KnownFamily("openai", re.compile(r"o1-(mini|preview).*"), _SYSTEM_ROLE_AND_SCHEMA),
    # Accepts a temperature and ignores it.
    _KnownFamily("deepseek", re.compile(r"deepseek-reasoner"), _TEMPERATURE),
    _KnownFamily("google", re.compile(r"gemma-3.*"), _SYSTEM_ROLE_AND_SCHEMA),
    _KnownFamily(
        "bedrock",
        re.compile(r"(amazon\.titan-text|mistral\.mi[sx]tral-[78]x?7?b|cohere\.command-(light-)?text|ai21\.j2)-.*"),
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
"""Of what is simply left out, the field of `ModelParameters`."""

_NAMES = {
    RequestParameter.TEMPERATURE: re.compile(r"temperature", re.I),
    RequestParameter.TOP_P: re.compile(r"\btop_?p\b", re.I),
    RequestParameter.TOP_K: re.compile(r"\btop_?k\b", re.I),
    RequestParameter.STOP: re.compile(r"\bstop(_?sequences)?\b", re.I),
    RequestParameter.SEED: re.compile(r"\b(random_)?seed\b", re.I),
    RequestParameter.FREQUENCY_PENALTY: re.compile(r"frequency_?penalty|\bpenalty is not", re.I),
    RequestParameter.PRESENCE_PENALTY: re.compile(r"presence_?penalty|\bpenalty is not", re.I),
    RequestParameter.REASONING_EFFORT: re.compile(
        r"reasoning_?effort|reasoning\.effort|\bthinking|output_?config\.effort|\beffort\b", re.I
    ),
    RequestParameter.TOOLS: re.compile(r"\btools?\b|tool_?config|function[_ ]?(calling|declarations)|tool use", re.I),
    RequestParameter.TOOL_CHOICE: re.compile(r"tool_?choice|function_?calling_?config", re.I),
    RequestParameter.MAX_OUTPUT_TOKENS: re.compile(r"max_?(completion_?|output_?|new_?)?tokens", re.I),
    RequestParameter.SYSTEM_ROLE: re.compile(
        r"\bsystem['\"`]?[\s_]?(role|message|prompt|instruction)|developer instruction|does not support 'system'"
        r"|roles must alternate|value 'system' at",
        re.I,
    ),
    RequestParameter.JSON_SCHEMA: re.compile(
        r"response[_ ]format|json[_ ]schema|json_object|json mode|response_?mime_?type|response_?(json_?)?schema"
        r"|structured output|output_?config(?!\.effort)|text_?format|tool_choice|\btools?\b",
        re.I,
    ),
}
"""How providers name each parameter in their refusals."""
_REJECTION = re.compile(
    r"not support|n['\u2019]t support|unsupported|not enabled|not compatible|incompatible|deprecated|not permitted"
    r"|not allowed|is allowed for this model|unavailable|unrecognized|not one of the allowed values"
    r"|unknown (parameter|name|field|argument)|extra inputs|cannot both be specified|must alternate|enum value set",
    re.I,
)


def rejected_parameter(error: ProviderError, request: ModelRequest) -> RequestParameter | None:
    """The parameter of the request that the provider refused by name; None for any other error.

    A refusal may name a second one as the replacement, so the first one counts.
    """
    if not is_rejection(error):
        return None
    found = ((_NAMES[parameter].search(error.message), parameter) for parameter in _parameters_of(request))
    positions = [(match.start(), parameter) for match, parameter in found if match]
    return min(positions)[1] if positions else None


def is_rejection(error: ProviderError) -> bool:
    """Whether the provider says that something of the request is not possible."""
    return error.code is ProbeErrorCode.INVALID_REQUEST and _REJECTION.search(error.message) is not None


def _parameters_of(request: ModelRequest) -> Parameters:
    """Where an API has no schemas, the schema is part of the system prompt."""
    fields = request.parameters
    present = {parameter for parameter, name in _FIELDS.items() if getattr(fields, name) not in (None, ())}
    if request.wants_json or request.system is not None:
        present.add(RequestParameter.SYSTEM_ROLE)
    if request.wants_json:
        present.add(RequestParameter.JSON_SCHEMA)
    return frozenset(present)


def without(request: ModelRequest, omitted: Parameters) -> ModelRequest:
    """The request without these parameters: a schema moves to the system prompt, a system prompt to the first user
    message. A model without a system role gets the schema there too, as some APIs have no other place for it.
    """
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


class Adapter:
    """What each model has rejected so far. Bounded: the model used longest ago is forgotten first."""

    def __init__(self, max_models: int = MAX_REMEMBERED_MODELS) -> None:
        self._max_models = max_models
        self._rejected: OrderedDict[tuple[str, str, str], Parameters] = OrderedDict()

    def omitted(self, account: Account, model: str, request: ModelRequest) -> Parameters:
        """The parameters of the request that the model rejects, as far as is known."""
        key = account.provider, account.base_url, model
        remembered = self._rejected.get(key, _NONE)
        if remembered:
            self._rejected.move_to_end(key)
        return (remembered | _known(model, request)) & _parameters_of(request)

    def learn(
        self, account: Account, model: str, request: ModelRequest, omitted: Parameters, error: ProviderError
    ) -> ProviderError:
        """The error of an attempt; if it rejects a parameter that was sent, this is remembered and ParameterRejected
        is returned.
        """
        parameter = rejected_parameter(error, without(request, omitted))
        if parameter is None or parameter in omitted:
            return error
        key = account.provider, account.base_url, model
        self._rejected[key] = self._rejected.get(key, _NONE) | {parameter}
        self._rejected.move_to_end(key)
        if len(self._rejected) > self._max_models:
            self._rejected.popitem(last=False)
        return ParameterRejected(error)


def _known(model: str, request: ModelRequest) -> Parameters:
    provider, name = provider_of(model).name, model_name_of(model)
    rejected = _NONE
    for family in _KNOWN_FAMILIES:
        if family.provider == provider and family.names.fullmatch(name):
            rejected |= family.rejected
    # Those that reject a temperature accept their default.
    is_default = request.parameters.temperature == 1 and provider == "openai"
    return rejected - _TEMPERATURE if is_default else rejected


def with_omitted(reply: Reply, omitted: Parameters) -> Reply:
    """The reply, with a record of what its request left out."""
    return replace(reply, omitted_parameters=tuple(sorted(omitted))) if omitted else reply


ADAPTER = Adapter()
"""The process's own."""
