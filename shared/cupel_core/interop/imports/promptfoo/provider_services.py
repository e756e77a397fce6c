"""Finds the model of Cupel that corresponds to a provider of promptfoo.

A provider's id is `<service>:<model>` or `<service>:<kind>:<model>`; a model's name may contain colons too.
docs/interop.md names these services.
"""

import re
from collections.abc import Mapping
from dataclasses import field
from typing import Any, NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.providers import OWN_SERVER_PREFIX, find_provider

_PLAIN_ADDRESS = re.compile(r"https?://([\w.:-]+)(/[\w./-]*)?", re.ASCII)
"""Matches no templates, credentials or characters that a shell interprets: the address becomes part of a command."""
CONNECTOR_HINT = "a connector may be able to call it"


class Conversion(NamedTuple):
    model: str | None
    note: str = ""


@dataclass(frozen=True)
class Service:
    """Describes a service whose models Cupel can call.

    `provider` is Cupel's name for it, empty for a server of the workspace. The kinds in `kinds` are left out of the
    model's name; those of `_OTHER_KINDS` are refused.
    """

    provider: str = ""
    kinds: frozenset[str] = frozenset({"chat"})
    base_url: str = ""
    """The server that the workspace sets up has this address; it is empty if the address varies."""
    refused: Mapping[str, str] = field(default_factory=dict)
    """Maps further kinds that are no chat models to the reason."""
    names: str = r".*"
    """Cupel can call models whose names match this pattern; `others` says why not the others."""
    others: str = ""


_CODE = "code is not executed"
_PROVIDER_FILE = "a provider in a file can be a target, but not a judge: write it into the assertion"
_AGENT = f"it is an agent, not a chat model; {CONNECTOR_HINT}"
_SPEECH = "it is for speech, not a chat model"
_IMAGES = "it makes images and is no chat model"
_VIDEOS = "it makes videos and is no chat model"
_EMBEDDINGS = "it is an embedding model, not a chat model"
_COMPLETIONS = "it completes texts and is no chat model"
_SESSION = "it is a session over a WebSocket, not a chat model"
_OTHER_KINDS = {
    "embedding": _EMBEDDINGS,
    "embeddings": _EMBEDDINGS,
    "feature-extraction": _EMBEDDINGS,
    "completion": _COMPLETIONS,
    "image": _IMAGES,
    "video": _VIDEOS,
    "audio": _SPEECH,
    "speech": _SPEECH,
    "tts": _SPEECH,
    "transcription": _SPEECH,
    "voice": _SPEECH,
    "live": _SESSION,
    "realtime": _SESSION,
    "moderation": "it classifies texts and is no chat model",
    "assistant": _AGENT,
    "agents": _AGENT,
}
"""No service has chat models of these kinds."""
_CODING_AGENT = "it is a coding agent, not a chat model"
_OPENAI_KINDS = {
    "agents-api": _AGENT,
    "chatkit": f"it is a workflow, not a chat model; {CONNECTOR_HINT}",
    "codex": _CODING_AGENT,
    "codex-app-server": _CODING_AGENT,
    "codex-desktop": _CODING_AGENT,
    "codex-sdk": _CODING_AGENT,
    "codex-security": _CODING_AGENT,
}
_BEDROCK_KINDS = {
    "kb": "it is a knowledge base, not a chat model",
    "knowledge-base": "it is a knowledge base, not a chat model",
    "mantle": "Cupel calls models of Bedrock by Converse only",
    "nova-sonic": _SPEECH,
    "responses": "Cupel calls models of Bedrock by Converse only",
}
_OTHER_NAMES = (
    (re.compile(r"(text|gemini)-embedding-.*|.*[.-]embed-.*|voyage-.*"), _EMBEDDINGS),
    (re.compile(r"gpt-3\.5-turbo-instruct.*|(davinci|babbage)-002"), _COMPLETIONS),
    (
        re.compile(r"dall-e.*|gpt-image.*|chatgpt-image.*|imagen-.*|.*-image(-.*)?|.*\.(titan-image|nova-canvas).*"),
        _IMAGES,
    ),
    (re.compile(r"sora.*|veo-.*|.*nova-reel.*|luma\.ray.*|gemini-omni.*"), _VIDEOS),
    (
        re.compile(r"tts-.*|.*-tts(-.*)?|.*-transcribe(-.*)?|whisper.*|.*nova-sonic.*|gpt-audio.*|.*-audio-preview.*"),
        _SPEECH,
    ),
    (re.compile(r".*-realtime(-.*)?|gpt-live-.*|.*-live-.*"), _SESSION),
    (re.compile(r"(omni|text)-moderation-.*"), _OTHER_KINDS["moderation"]),
)
"""Models with these names are no chat models, although their ids name no kind."""

_LOCAL = Service("custom", frozenset({"chat", "completion"}))
_PRESET_KINDS = frozenset({"chat", "responses"})
SERVICES: dict[str, Service] = {
    "openai": Service("openai", _PRESET_KINDS, refused=_OPENAI_KINDS),
    "azure": Service("azure", refused={"foundry-agent": _AGENT}),
    "anthropic": Service(
        "anthropic",
        frozenset({"messages", "completion"}),
        refused={"claude-agent-sdk": _CODING_AGENT, "claude-code": _CODING_AGENT, "claude-managed-agents": _AGENT},
        names=r"claude-.*",
        others="it is no model of Anthropic's Messages API",
    ),
    "google": Service("google"),
    "vertex": Service(
        "vertex", names=r"(gemini|claude)-.*", others="of Vertex AI, Cupel calls models of Gemini and Claude only"
    ),
    "bedrock": Service("bedrock", frozenset({"completion", "converse", "messages"}), refused=_BEDROCK_KINDS),
    "mistral": Service("mistral"),
    "deepseek": Service("deepseek"),
    "xai": Service("xai", _PRESET_KINDS),
    "cohere": Service("cohere"),
    "fireworks": Service("fireworks"),
    "groq": Service("groq", _PRESET_KINDS),
    "openrouter": Service("openrouter"),
    "perplexity": Service("perplexity"),
    "togetherai": Service("together"),
    "docker": _LOCAL,
    "llama": _LOCAL,
    "llamafile": _LOCAL,
    "localai": _LOCAL,
    "ollama": _LOCAL,
    "vllm": _LOCAL,
    "abliteration": Service(base_url="https://api.abliteration.ai/v1"),
    "ai21": Service(base_url="https://api.ai21.com/studio/v1"),
    "aimlapi": Service(base_url="https://api.aimlapi.com/v1"),
    "alibaba": Service(base_url="https://dashscope-intl.aliyuncs.com/compatible-mode/v1"),
    "atlascloud": Service(base_url="https://api.atlascloud.ai/v1"),
    "cerebras": Service(base_url="https://api.cerebras.ai/v1"),
    "cloudera": Service(),
    "cloudflare-ai": Service(),
    "cometapi": Service(base_url="https://api.cometapi.com/v1"),
    "databricks": Service(),
    "envoy": Service(),
    "github": Service(base_url="https://models.github.ai/inference"),
    "helicone": Service(),
    "huggingface": Service(
        base_url="https://router.huggingface.co/v1",
        refused={
            "sentence-similarity": _EMBEDDINGS,
            "text-classification": "it classifies texts and is no chat model",
            "text-generation": _COMPLETIONS,
            "token-classification": "it classifies texts and is no chat model",
        },
    ),
    "hyperbolic": Service(base_url="https://api.hyperbolic.xyz/v1"),
    "litellm": Service(),
    "llamaapi": Service(base_url="https://api.llama.com/compat/v1"),
    "meta": Service(base_url="https://api.meta.ai/v1"),
    "minimax": Service(base_url="https://api.minimax.io/v1"),
    "mlflow-gateway": Service(),
    "moonshot": Service(base_url="https://api.moonshot.ai/v1"),
    "novita": Service(base_url="https://api.novita.ai/openai/v1"),
    "nscale": Service(base_url="https://inference.api.nscale.com/v1"),
    "nvidia": Service(base_url="https://integrate.api.nvidia.com/v1"),
    "orcarouter": Service(base_url="https://api.orcarouter.ai/v1"),
    "truefoundry": Service(),
    "vercel": Service(base_url="https://ai-gateway.vercel.sh/v1"),
}
SYNONYMS = {
    "alicloud": "alibaba",
    "aliyun": "alibaba",
    "azureopenai": "azure",
    "dashscope": "alibaba",
    "hf": "huggingface",
    "palm": "google",
}

_OWN_API = f"its API is neither OpenAI's nor another that Cupel knows; {CONNECTOR_HINT}"
_NOT_A_MODEL = f"it is no model; {CONNECTOR_HINT}"
_PROMPTFOO = "it belongs to promptfoo itself"
_HTTP = "it is an agent, which becomes a connector"
REFUSED: dict[str, str] = {
    **dict.fromkeys(("exec", "golang", "package", "python", "ruby", "javascript"), _CODE),
    **dict.fromkeys(("a2a", "acp", "bedrock-agent", "n8n", "openclaw"), _AGENT),
    **dict.fromkeys(("opencode", "openinterpreter"), _CODING_AGENT),
    **dict.fromkeys(("agentic", "promptfoo", "sequence"), _PROMPTFOO),
    **dict.fromkeys(("http", "https"), _HTTP),
    **dict.fromkeys(("browser", "mcp", "slack", "webhook"), _NOT_A_MODEL),
    **dict.fromkeys(("websocket", "ws", "wss"), _SESSION),
    **dict.fromkeys(("fal", "modelslab", "quiverai"), _IMAGES),
    **dict.fromkeys(
        ("cloudflare-gateway", "f5", "jfrog", "portkey", "qwak", "replicate", "sagemaker", "snowflake", "watsonx"),
        _OWN_API,
    ),
    "bam": "the service was shut down",
    "elevenlabs": _SPEECH,
    "transformers": "it runs in promptfoo's own process",
    "transformers.js": "it runs in promptfoo's own process",
    "voyage": _EMBEDDINGS,
}
"""Maps services without chat models that Cupel can call to the reason."""


def convert(
    identifier: str, config: Mapping[str, object] | None = None, *, embeds: bool = False, azure_address: str = ""
) -> Conversion:
    """Return the model for a provider id. `config` is the provider's; `embeds` asks for an embedding model.

    `azure` stands for the resource at `azure_address`; models of other resources get their own servers.
    """
    if identifier == "echo":
        return Conversion("sim/echo")
    if re.fullmatch(r"[a-z0-9-]+/\S+", identifier) and find_provider(identifier.partition("/")[0]):
        return Conversion(identifier)
    if _is_file(identifier):
        return Conversion(None, _CODE if not identifier.endswith((".json", ".yaml", ".yml")) else _PROVIDER_FILE)
    name, _, rest = identifier.partition(":")
    name = SYNONYMS.get(name, name)
    if name in REFUSED:
        return Conversion(None, REFUSED[name])
    if name not in SERVICES:
        return Conversion(None, f"no Cupel model corresponds to it; {CONNECTOR_HINT}")
    converted = _convert(name, SERVICES[name], rest, config or {}, embeds=embeds)
    return _of_resource(converted, _address(config or {}), azure_address) if name == "azure" else converted


def azure_address(entry: Mapping[str, Any]) -> str:
    service, config = str(entry.get("id")).partition(":")[0], entry.get("config")
    return _address(config) if SYNONYMS.get(service, service) == "azure" and isinstance(config, Mapping) else ""


def _of_resource(conversion: Conversion, address: str, azure_address: str) -> Conversion:
    """Call the v1 API of another resource than that of `azure` as a server of the workspace."""
    if conversion.model is None or not (address and azure_address) or _host(address) == _host(azure_address):
        return conversion
    provider = _own_server(address)
    base_url = f"https://{_host(address)}/openai/v1"
    return Conversion(f"{provider}/{conversion.model.partition('/')[2]}", _set_up(provider, base_url))


def _host(address: str) -> str:
    return address.partition("://")[2].partition("/")[0].lower()


def _is_file(identifier: str) -> bool:
    return identifier.startswith("file://") or re.search(r"\.[cm]?[jt]s$", identifier) is not None


def _convert(
    service_name: str, service: Service, rest: str, config: Mapping[str, object], *, embeds: bool
) -> Conversion:
    kind, _, name = rest.partition(":")
    refused = {} if embeds else {**_OTHER_KINDS, **service.refused}
    kinds = service.kinds | {"embedding", "embeddings"} if embeds else service.kinds
    if kind in refused and kind not in kinds:
        return Conversion(None, refused[kind])
    model = name if kind in kinds else rest
    if not model:
        return Conversion(None, "it names no model")
    if not embeds and (reason := _reason_against(service, model)):
        return Conversion(None, reason)
    return _named(service_name, service, model, config)


def _reason_against(service: Service, model: str) -> str | None:
    if reason := next((reason for names, reason in _OTHER_NAMES if names.fullmatch(model)), None):
        return reason
    return None if re.fullmatch(service.names, model) else service.others


def _named(service_name: str, service: Service, model: str, config: Mapping[str, object]) -> Conversion:
    address, provider = _address(config), service.provider or f"{OWN_SERVER_PREFIX}{service_name}"
    if service_name == "openai" and address and not address.startswith("https://api.openai.com/"):
        provider = _own_server(address)
    if address or service.provider in ("", "custom"):
        return Conversion(f"{provider}/{model}", _set_up(provider, address or service.base_url))
    return Conversion(f"{provider}/{model}")


def _address(config: Mapping[str, object]) -> str:
    base_url, host = config.get("apiBaseUrl"), config.get("apiHost")
    if isinstance(base_url, str):
        return base_url
    if not isinstance(host, str):
        return ""
    return f"https://{host}" if host.endswith(".azure.com") else f"https://{host}/v1"


def _own_server(address: str) -> str:
    """Return a server name from the address's host, or `custom` if the host is missing or in an environment
    variable."""
    found = _PLAIN_ADDRESS.fullmatch(address)
    name = re.sub(r"[^a-z0-9]+", "-", found[1].lower())[:40].strip("-") if found else ""
    return f"{OWN_SERVER_PREFIX}{name}" if name else "custom"


def _set_up(provider: str, address: str) -> str:
    shown = address if _PLAIN_ADDRESS.fullmatch(address) else "<address>"
    return f"its server is set by `cupel providers set {provider} --base-url {shown}`"
