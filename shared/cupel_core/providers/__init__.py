"""The supported providers. A model is named `provider/name`; `name` is the provider's own and may have slashes.

A workspace may have several servers of its own: each is a provider named `custom-<name>`, known by its name alone.
"""

import re
from functools import lru_cache

from cupel_core.base.deferred import dataclass
from cupel_core.base.errors import Invalid
from cupel_core.domain.conversations import simulation
from cupel_core.domain.resources.connectors import PROVIDER as CONNECTOR
from cupel_core.domain.text.control_characters import has_control_characters
from cupel_core.domain.text.near_names import did_you_mean, near_name

__all__ = [
    "OWN_SERVER_PREFIX",
    "PROVIDERS",
    "QUEUES",
    "Provider",
    "chat_model_error",
    "find_provider",
    "is_claude",
    "is_own_server",
    "model_name_error",
    "model_name_of",
    "provider_of",
    "queue_of",
    "simulated_model_error",
    "wire_format_of",
]

OWN_SERVER_PREFIX = "custom-"
_OWN_SERVER = re.compile(r"custom-[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?")
_OWN_SERVER_RULE = "the name of an own server is custom-<name>: 1 to 40 lower-case letters, digits and inner hyphens"
_SHARED_QUEUE = "custom"
_RESPONSES = "responses:"
_OPENAI_MODELS = frozenset({"openai", "azure"})
_RESPONSES_ONLY = re.compile(r"(o\d|gpt-\d+(\.\d+)?)-pro(-.*)?|.*-deep-research(-.*)?|.*codex.*|computer-use-.*")
"""Names of OpenAI's models without chat completions."""


@dataclass(frozen=True)
class Provider:
    """A provider of models. `base_url` is the default. It is empty if the account must name the server, and for Bedrock
    (AWS's own endpoint), `sim` (no calls) and connectors (each has its own)."""

    name: str
    wire_format: str
    base_url: str
    needs_key: bool
    title: str
    needs_base_url: bool = False
    queue: str = ""
    """The provider whose queues its probes use and whose metrics count it, if not its own."""


def _preset(
    name: str, base_url: str, title: str, *, wire_format: str = "openai", needs_base_url: bool = False
) -> Provider:
    """Return a provider without queues of its own, because three queues cost money even when idle."""
    return Provider(name, wire_format, base_url, True, title, needs_base_url, _SHARED_QUEUE)


def _own_server(name: str) -> Provider:
    title = f"Own server {name.removeprefix(OWN_SERVER_PREFIX)}"
    return Provider(name, "openai", "", needs_key=False, title=title, needs_base_url=True, queue=_SHARED_QUEUE)


_ALL = (
    Provider("openai", "openai", "https://api.openai.com/v1", needs_key=True, title="OpenAI"),
    Provider("anthropic", "anthropic", "https://api.anthropic.com/v1", needs_key=True, title="Anthropic"),
    Provider("google", "google", "https://generativelanguage.googleapis.com/v1beta", needs_key=True, title="Google"),
    Provider("bedrock", "bedrock", "", needs_key=True, title="Amazon Bedrock"),
    Provider("mistral", "openai", "https://api.mistral.ai/v1", needs_key=True, title="Mistral"),
    Provider("deepseek", "openai", "https://api.deepseek.com/v1", needs_key=True, title="DeepSeek"),
    Provider("xai", "openai", "https://api.x.ai/v1", needs_key=True, title="xAI"),
    _preset("azure", "", "Azure OpenAI", needs_base_url=True),
    _preset("cohere", "https://api.cohere.ai/compatibility/v1", "Cohere"),
    _preset("fireworks", "https://api.fireworks.ai/inference/v1", "Fireworks AI"),
    _preset("groq", "https://api.groq.com/openai/v1", "Groq"),
    _preset("openrouter", "https://openrouter.ai/api/v1", "OpenRouter"),
    _preset("perplexity", "https://api.perplexity.ai", "Perplexity"),
    _preset("together", "https://api.together.xyz/v1", "Together AI"),
    _preset("vertex", "https://aiplatform.googleapis.com/v1", "Google Vertex AI", wire_format="vertex"),
    Provider("custom", "openai", "", needs_key=False, title="Any OpenAI-compatible server", needs_base_url=True),
    Provider("connector", "connector", "", needs_key=False, title="Connectors"),
    Provider("sim", "sim", "", needs_key=False, title="Simulated models"),
)

PROVIDERS: dict[str, Provider] = {provider.name: provider for provider in _ALL}
"""The providers without a workspace's own servers."""
QUEUES: tuple[str, ...] = tuple(provider.name for provider in _ALL if not provider.queue)


@lru_cache(maxsize=1024)
def find_provider(name: str) -> Provider | None:
    """Return the provider of this name: one of `PROVIDERS`, or a workspace's own server."""
    return PROVIDERS.get(name) or (_own_server(name) if _OWN_SERVER.fullmatch(name) else None)


def is_own_server(name: str) -> bool:
    """Return whether the provider is a server of the user's own: `custom`, or `custom-<name>`."""
    return name == _SHARED_QUEUE or _OWN_SERVER.fullmatch(name) is not None


def queue_of(name: str) -> str:
    provider = find_provider(name)
    return provider.queue if provider is not None and provider.queue else name


def provider_of(model: str, field: str = "models") -> Provider:
    """Return the provider of a model. Raise `Invalid` for `field`, the name of the model's field in the caller's
    input."""
    if error := _name_error(model):
        raise Invalid.field(field, error)
    name = model.partition("/")[0]
    return PROVIDERS.get(name) or _own_server(name)


def model_name_error(model: str) -> str | None:
    """Return the error of a model's name where a connector is not allowed, or None."""
    if model.partition("/")[0] == CONNECTOR:
        return "must be a model, not a connector"
    if has_control_characters(model):
        return "must not contain control characters, line breaks or tabs"
    return _name_error(model)


def chat_model_error(model: str) -> str | None:
    """Return the error of the name of a model that answers messages, or None. An unknown simulated model is an error,
    because every probe would fail."""
    return model_name_error(model) or simulated_model_error(model)


def _name_error(model: str) -> str | None:
    prefix, slash, name = model.partition("/")
    if not slash or not name.removeprefix(_RESPONSES).strip():
        return f'model "{model}" must have the form provider/name'
    if find_provider(prefix) is None:
        if prefix.startswith(OWN_SERVER_PREFIX):
            return f'provider of model "{model}": {_OWN_SERVER_RULE}'
        near = near_name(prefix, list(PROVIDERS))
        hint = f"did you mean {near}/{name}? " if near else ""
        return f'unknown provider for model "{model}"; {hint}known providers: {", ".join(PROVIDERS)}'
    return None


def unknown_provider_message(name: str) -> str:
    if name.startswith(OWN_SERVER_PREFIX):
        return _OWN_SERVER_RULE
    return f"must be one of {', '.join(PROVIDERS)}{did_you_mean(name, list(PROVIDERS))}"


def simulated_model_error(model: str) -> str | None:
    """Return the error of the name of a simulated model, or None if there is such a model or the provider is another
    one."""
    provider, _, name = model.partition("/")
    if provider != "sim" or not name or name in simulation.MODELS:
        return None
    near = near_name(name, list(simulation.MODELS))
    hint = f"did you mean sim/{near}? " if near else ""
    known = ", ".join(f"sim/{each}" for each in simulation.MODELS)
    return f'unknown simulated model "{model}"; {hint}known models: {known}'


def model_name_of(model: str) -> str:
    """Return the provider's own name, such as `org/llama` of `custom/org/llama`, and `m` of `openai/responses:m`."""
    return model.partition("/")[2].removeprefix(_RESPONSES)


def is_claude(model_name: str) -> bool:
    """Return whether the model has Anthropic's format, for a provider of several makers' models."""
    return model_name.startswith("claude-")


def wire_format_of(model: str) -> str:
    """Return the wire format of a model. A provider of OpenAI's chat completions may also have its Responses API."""
    provider, name = provider_of(model), model.partition("/")[2]
    if provider.wire_format != "openai":
        return provider.wire_format
    is_only_there = provider.name in _OPENAI_MODELS and _RESPONSES_ONLY.fullmatch(name) is not None
    return "openai-responses" if name.startswith(_RESPONSES) or is_only_there else "openai"
