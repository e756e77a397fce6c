"""The supported providers. A model is named `provider/name`; `name` is the provider's own and may have slashes."""

from dataclasses import dataclass

from cupel_core.domain.resources.connectors import PROVIDER as CONNECTOR
from cupel_core.domain.text.control_characters import has_control_characters
from cupel_core.domain.text.near_names import did_you_mean, near_name
from cupel_core.domain.turns import simulation
from cupel_core.errors import Invalid

__all__ = ["PROVIDERS", "Provider", "model_name_error", "model_name_of", "provider_of", "simulated_target_error"]


@dataclass(frozen=True)
class Provider:
    """A provider of models. `base_url` is the default; it is empty for Bedrock (AWS's own endpoint), for `sim` (no
    calls) and for connectors (each has its own).
    """

    name: str
    wire_format: str
    base_url: str
    needs_key: bool
    title: str

    @property
    def needs_base_url(self) -> bool:
        """Whether the account must name the server."""
        return self.name == "custom"


_ALL = (
    Provider("openai", "openai", "https://api.openai.com/v1", needs_key=True, title="OpenAI"),
    Provider("anthropic", "anthropic", "https://api.anthropic.com/v1", needs_key=True, title="Anthropic"),
    Provider("google", "google", "https://generativelanguage.googleapis.com/v1beta", needs_key=True, title="Google"),
    Provider("bedrock", "bedrock", "", needs_key=False, title="Amazon Bedrock"),
    Provider("mistral", "openai", "https://api.mistral.ai/v1", needs_key=True, title="Mistral"),
    Provider("deepseek", "openai", "https://api.deepseek.com/v1", needs_key=True, title="DeepSeek"),
    Provider("xai", "openai", "https://api.x.ai/v1", needs_key=True, title="xAI"),
    Provider("custom", "openai", "", needs_key=False, title="Any OpenAI-compatible server"),
    Provider("connector", "connector", "", needs_key=False, title="Connectors"),
    Provider("sim", "sim", "", needs_key=False, title="Simulated models"),
)

PROVIDERS: dict[str, Provider] = {provider.name: provider for provider in _ALL}


def provider_of(model: str, field: str = "models") -> Provider:
    """The provider of a model. Raises `Invalid` for `field`, the name of the model's field in the caller's input."""
    if error := _name_error(model):
        raise Invalid.field(field, error)
    return PROVIDERS[model.partition("/")[0]]


def model_name_error(model: str) -> str | None:
    """What is wrong with a model's name where a connector is not allowed; None if nothing is."""
    if model.partition("/")[0] == CONNECTOR:
        return "must be a model, not a connector"
    if has_control_characters(model):
        return "must not contain control characters, line breaks or tabs"
    return _name_error(model)


def _name_error(model: str) -> str | None:
    prefix, slash, name = model.partition("/")
    if not slash or not name.strip():
        return f'model "{model}" must have the form provider/name'
    if prefix not in PROVIDERS:
        near = near_name(prefix, list(PROVIDERS))
        hint = f"did you mean {near}/{name}? " if near else ""
        return f'unknown provider for model "{model}"; {hint}known providers: {", ".join(PROVIDERS)}'
    return None


def unknown_provider_message(name: str) -> str:
    return f"must be one of {', '.join(PROVIDERS)}{did_you_mean(name, list(PROVIDERS))}"


def simulated_target_error(target: str) -> str | None:
    """Why this simulated model cannot be a target; None if it can, or if it belongs to another provider.

    Simulated graders are not restricted: each answers with an example of the requested JSON.
    """
    provider, _, name = target.partition("/")
    if provider != "sim" or not name or name in simulation.MODELS:
        return None
    near = near_name(name, list(simulation.MODELS))
    hint = f"did you mean sim/{near}? " if near else ""
    known = ", ".join(f"sim/{each}" for each in simulation.MODELS)
    return f'unknown simulated model "{target}"; {hint}known models: {known}'


def model_name_of(model: str) -> str:
    """The provider's own name of a model: `org/llama` for `custom/org/llama`."""
    return model.partition("/")[2]
