"""The providers Cupel knows. A model is named `provider/name`; after the first slash comes the provider's own name."""

from dataclasses import dataclass

from cupel_core.errors import Invalid

__all__ = ["PROVIDERS", "Provider", "name_of", "provider_of"]


@dataclass(frozen=True)
class Provider:
    """`base_url` is the default and may be empty: AWS's own endpoint for Bedrock, nothing to call for `sim`, and for
    connectors, of which each has its own.
    """

    name: str
    wire: str
    base_url: str
    needs_key: bool
    title: str

    @property
    def needs_base_url(self) -> bool:
        """True where only the account can say which server to talk to."""
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
    """Whose model this is; `field` is what the caller's input calls the model."""
    prefix, slash, name = model.partition("/")
    if not slash or not name.strip():
        raise Invalid.field(field, f"{model!r} is not of the form provider/name")
    if prefix not in PROVIDERS:
        raise Invalid.field(field, f"unknown provider {prefix!r}; known are {', '.join(PROVIDERS)}")
    return PROVIDERS[prefix]


def name_of(model: str) -> str:
    """The provider's own name of a model: `org/llama` of `custom/org/llama`."""
    return model.partition("/")[2]
