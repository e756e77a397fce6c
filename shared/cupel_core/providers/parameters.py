"""The parameters for which a provider's API has a field. Only a call shows which of them a model refuses."""

from collections.abc import Iterable, Iterator

from cupel_core.base.errors import FieldError
from cupel_core.domain.conversations.model_parameters import LOOP_PARAMETERS, PARAMETER_NAMES, ParameterFields
from cupel_core.domain.conversations.model_request import RequestParameter
from cupel_core.domain.runs.targets import Target
from cupel_core.providers import find_provider, is_claude, is_own_server, wire_format_of

ALL = frozenset(PARAMETER_NAMES.values()) | LOOP_PARAMETERS
_PENALTIES = frozenset({"frequencyPenalty", "presencePenalty"})
_UNKNOWN_TO_FORMAT = {
    "anthropic": _PENALTIES | {"seed"},
    "bedrock": _PENALTIES | {"seed", "topK"},
    "openai-responses": _PENALTIES | {"seed", "stop", "topK"},
}
_UNKNOWN_TO_PROVIDER = {
    "openai": frozenset({"topK"}),
    "azure": frozenset({"topK"}),
    "groq": frozenset({"topK"}),
    "mistral": frozenset({"topK", "reasoningEffort"}),
    "deepseek": frozenset({"topK", "seed"}),
    "xai": frozenset({"topK"}),
}
"""The further parameters that a provider lacks. Other servers with OpenAI's format often know more than OpenAI
itself."""
_OWN_SERVERS_ONLY = frozenset({"extraBody"})
"""Only servers of the user's own take these, because each parameter of a known provider has a field of its own."""
_NONE = frozenset[str]()


def known_parameters(target: Target) -> frozenset[str]:
    name = target.model.partition("/")[2]
    if not name or find_provider(target.provider) is None:
        return ALL  # Another check reports the unknown model.
    wire_format = wire_format_of(target.model)
    if wire_format == "vertex" and is_claude(name):
        wire_format = "anthropic"
    unknown = _UNKNOWN_TO_FORMAT.get(wire_format, _NONE) | _UNKNOWN_TO_PROVIDER.get(target.provider, _NONE)
    return ALL - unknown - (_NONE if is_own_server(target.provider) else _OWN_SERVERS_ONLY)


def parameter_errors(target: Target, field: str) -> Iterator[FieldError]:
    """Yield an error for each own parameter of the target that its provider does not know."""
    known = known_parameters(target)
    for name in target.params:
        if target.params[name] is not None and name not in known:
            provider = find_provider(target.provider)
            title = provider.title if provider else target.provider
            yield FieldError(f"{field}.{name}", f"is no parameter of {title}; it takes {', '.join(sorted(known))}")


def omitted_parameters(unknown: Iterable[str], *, withholds_headers: bool) -> tuple[RequestParameter, ...]:
    """Return the defaults that the target does not know, and headers that were made for others."""
    names = [RequestParameter.JSON_SCHEMA if name == "responseFormat" else RequestParameter(name) for name in unknown]
    return tuple(sorted([*names, *([RequestParameter.PERSONA_HEADERS] if withholds_headers else [])]))


def without_unknown(target: Target, params: ParameterFields) -> dict[str, object]:
    known = known_parameters(target)
    return {name: value for name, value in params.items() if name in known}
