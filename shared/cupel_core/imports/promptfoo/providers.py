"""A configuration's providers, as Cupel's models."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cupel_core.imports.drafts import Report
from cupel_core.imports.json_documents import Unreadable
from cupel_core.providers import PROVIDERS

_SAME = {"google": "google", "vertex": "google", "bedrock": "bedrock", "mistral": "mistral", "deepseek": "deepseek"}
_SAME |= {"xai": "xai", "ollama": "custom", "vllm": "custom", "llamafile": "custom", "localai": "custom"}
_KINDS = {
    "openai": ("chat", "responses", "completion"),
    "anthropic": ("messages", "completion"),
    "ollama": ("chat", "completion"),
    "bedrock": ("converse", "messages"),
    "localai": ("chat",),
    "vertex": ("chat",),
    "mistral": ("chat",),
}
_NOT_CHAT = frozenset({"embedding", "embeddings", "image", "moderation", "realtime", "assistant", "agents"})


@dataclass(frozen=True)
class Provider:
    """`model` is None for what Cupel has no like of; `prompts` when it is for some prompts only."""

    name: str
    model: str | None
    label: str | None
    config: Mapping[str, Any]
    prompts: tuple[str, ...] | None = None


def model_of(identifier: str) -> str | None:
    """`openai:chat:gpt-5-mini` is `openai/gpt-5-mini`; None for what has no like."""
    if identifier == "echo":
        return "sim/echo"
    if re.fullmatch(r"[a-z]+/\S+", identifier) and identifier.partition("/")[0] in PROVIDERS:
        return identifier
    service, *rest = identifier.split(":")
    provider = _SAME.get(service, service if service in ("openai", "anthropic") else None)
    if len(rest) > 1 and rest[0] in _KINDS.get(service, ()):
        rest = rest[1:]
    name = ":".join(rest)
    if provider is None or not name or rest[0] in _NOT_CHAT or rest[0] in _KINDS.get(service, ()):
        return None
    return f"{provider}/{name}"


def providers_of(config: Mapping[str, Any], report: Report) -> list[Provider]:
    written = config.get("providers", config.get("targets", []))
    entries = [written] if isinstance(written, str | Mapping) else written or []
    if not isinstance(entries, list):
        raise Unreadable("providers must be a list")
    found = [_provider(entry, f"providers.{number}", report) for number, entry in enumerate(entries)]
    return [provider for provider in found if provider]


def _provider(entry: Any, where: str, report: Report) -> Provider | None:
    if isinstance(entry, Mapping) and "id" not in entry and len(entry) == 1:  # the old way: {id: options}
        ((identifier, options),) = entry.items()
        entry = {"id": identifier, **(options if isinstance(options, Mapping) else {})}
    if isinstance(entry, str):
        entry = {"id": entry}
    identifier = entry.get("id") if isinstance(entry, Mapping) else None
    if not isinstance(identifier, str):
        report.leave(where, "a provider without an id", "it cannot be told which model it is")
        return None
    model = model_of(identifier)
    config = entry.get("config") if isinstance(entry.get("config"), Mapping) else {}
    _tell(where, identifier, model, config, entry, report)
    prompts = entry.get("prompts")
    allowed = tuple(map(str, prompts)) if isinstance(prompts, list) else None
    return Provider(identifier, model, entry.get("label"), config, allowed)


def _tell(
    where: str, identifier: str, model: str | None, config: Mapping[str, Any], entry: Mapping[str, Any], report: Report
) -> None:
    if model is None:
        why = "is code or a program, which is not run" if _is_code(identifier) else "has no like among Cupel's models"
        report.leave(where, identifier, f"{why}; a connector may reach it")
        return
    report.take("models")
    if model != identifier:
        report.change(where, identifier, f"is the model {model}")
    for name in sorted(set(config) - {"temperature"}):
        report.leave(f"{where}.config.{name}", name, "is an option that a run does not have")
    for name in sorted(set(entry) - {"id", "label", "config", "prompts"}):
        report.leave(f"{where}.{name}", name, "is not supported")


def _is_code(identifier: str) -> bool:
    return identifier.startswith(("file://", "exec:", "python:", "javascript:", "golang:", "package:", "ruby:"))


def sampled(providers: list[Provider], report: Report) -> float | None:
    """The temperature, if all agree on one."""
    found = [provider.config.get("temperature") for provider in providers if provider.model]
    wanted = {each for each in found if each is None or isinstance(each, int | float)}
    if len(wanted) > 1:
        report.leave("providers", "temperature", "the providers have different ones; a run has one for all")
    only = wanted.pop() if len(wanted) == 1 else None
    return float(only) if isinstance(only, int | float) and 0 <= only <= 2 else None
