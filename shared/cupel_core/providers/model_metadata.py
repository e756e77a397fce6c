"""Metadata of models: the sizes of their input and output, and their kinds of input.

It is LiteLLM's list, reduced to the fields that Cupel uses (`make models`), and is read when it is first needed.
"""

import re
from datetime import date
from functools import cache
from typing import NamedTuple

from cupel_core.providers import PROVIDERS, model_name_of, provider_of

MODALITIES = {"t": "text", "i": "image", "a": "audio", "v": "video", "p": "pdf"}
"""Kinds of input, by their letter in the list."""
PARAMETERS = {"t": "tools", "c": "toolChoice", "f": "responseFormat", "r": "reasoningEffort"}
"""Parameters that the list covers. Others may be accepted too."""
_VERSION = re.compile(r"[-@](\d{4}-\d\d-\d\d|\d{8}|latest)$")
_SAME_MODELS = {"azure": "openai", "vertex": "google"}
"""Providers that have models of another one, under the same names."""


class ModelMetadata(NamedTuple):
    """None means unknown. `supported_parameters` has those of `PARAMETERS` that the model accepts."""

    context_length: int | None = None
    """The maximum number of tokens of a request."""
    max_output_tokens: int | None = None
    input_modalities: tuple[str, ...] | None = None
    supported_parameters: tuple[str, ...] | None = None
    shutdown_on: date | None = None
    """The date of the announced shutdown; also None if no shutdown is announced."""
    successor: str | None = None
    """The provider's name of the model that it recommends instead."""


UNKNOWN = ModelMetadata()


def metadata_of(model: str) -> ModelMetadata:
    """Return the list's entry of a model, or of the one that it is a version of."""
    provider, name = provider_of(model).name, model_name_of(model)
    if provider == "openrouter":
        maker, _, name_there = name.partition("/")
        known = _find(provider, name)
        return known or (_find(maker, name_there.replace(".", "-")) or _find(maker, name_there) or UNKNOWN)
    return _find(provider, name) or _find(_SAME_MODELS.get(provider, provider), name) or UNKNOWN


def _find(provider: str, name: str) -> ModelMetadata | None:
    models = _models().get(provider, {})
    line = models.get(name) or models.get(_VERSION.sub("", name))
    return None if line is None else _parse(line)


def _parse(line: str) -> ModelMetadata:
    context_length, max_output_tokens, modalities, parameters, day, successor = line.split(" ")
    return ModelMetadata(
        None if context_length == "-" else int(context_length),
        None if max_output_tokens == "-" else int(max_output_tokens),
        None if modalities == "-" else tuple(MODALITIES[letter] for letter in modalities),
        None if parameters == "-" else tuple(PARAMETERS[letter] for letter in parameters),
        None if day == "-" else date.fromisoformat(day),
        None if successor == "-" else successor,
    )


def shutdown_note(model: str, today: date) -> str | None:
    """Return a note that a model is no longer served, with its successor, or None if no shutdown is known."""
    found = metadata_of(model)
    if found.shutdown_on is None or found.shutdown_on > today:
        return None
    successor = f"; its successor is {model.partition('/')[0]}/{found.successor}" if found.successor else ""
    return f"{model} was shut down on {found.shutdown_on}{successor}"


@cache
def _models() -> dict[str, dict[str, str]]:
    from cupel_core.providers.model_list import MODELS

    found: dict[str, dict[str, str]] = {provider: {} for provider in PROVIDERS}
    for line in MODELS.splitlines():
        provider, name, rest = line.split(" ", 2)
        found[provider][name] = rest
    return found
