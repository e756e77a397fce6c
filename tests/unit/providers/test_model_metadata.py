"""What is known of models beside their prices, and the list that it comes from."""

import re
import subprocess
from datetime import date, timedelta

from cupel_core.providers import PROVIDERS, model_list, prices
from cupel_core.providers.model_metadata import (
    MODALITIES,
    PARAMETERS,
    UNKNOWN,
    ModelMetadata,
    metadata_of,
    shutdown_note,
)
from tests.conftest import ROOT
from tools.refresh.model_list import lines

KNOWN = ModelMetadata(
    272_000,
    128_000,
    ("text", "image", "pdf"),
    ("tools", "toolChoice", "responseFormat", "reasoningEffort"),
    date(2026, 12, 11),
    "gpt-5.6-terra",
)
NOTICE = timedelta(days=183)
_NAMED = re.compile(rf"\b({'|'.join(set(PROVIDERS) - {'custom', 'connector', 'sim'})})/([A-Za-z0-9][\w.:/-]*\w)")


def test_a_listed_model() -> None:
    assert metadata_of("openai/gpt-5-mini") == KNOWN


def test_a_version_is_like_its_model() -> None:
    assert metadata_of("openai/gpt-5-mini-2099-01-01") == KNOWN


def test_the_responses_api_has_the_same_models() -> None:
    assert metadata_of("openai/responses:gpt-5-mini") == KNOWN


def test_gateways_are_looked_up_by_maker() -> None:
    assert metadata_of("openrouter/openai/gpt-5-mini") == KNOWN
    claude = metadata_of("anthropic/claude-sonnet-4-5")
    assert metadata_of("openrouter/anthropic/claude-sonnet-4.5") == claude != UNKNOWN


def test_what_is_not_listed_is_unknown() -> None:
    for model in ("openai/gpt-99", "openrouter/nobody/x", "custom-gpu/gpt-5-mini", "sim/steady", "azure/my-deployment"):
        assert metadata_of(model) == UNKNOWN


def test_most_models_with_a_price_have_a_context_length() -> None:
    for provider in ("openai", "anthropic", "google", "bedrock"):
        known = prices.known_models(provider)
        listed = [model for model in known if metadata_of(model.id).context_length or model.context_length]
        assert len(listed) > len(known) / 2, provider


def test_every_line_can_be_read() -> None:
    for line in model_list.MODELS.splitlines():
        provider, name, context_length, max_output_tokens, modalities, parameters, day, successor = line.split(" ")
        assert provider in PROVIDERS
        assert name
        assert (context_length + max_output_tokens).replace("-", "").isdecimal() or context_length == "-"
        assert modalities == "-" or set(modalities) <= set(MODALITIES)
        assert parameters == "-" or set(parameters) <= set(PARAMETERS)
        assert day == "-" or date.fromisoformat(day)
        assert successor


UNREADABLE = {"deprecation_date": "soon", "successor_model": "one of ours"}


def test_lines_are_made_of_chat_models_only() -> None:
    found = lines(
        {
            "gpt-x": {
                "litellm_provider": "openai",
                "mode": "chat",
                "max_input_tokens": 100,
                "supports_vision": True,
                "supports_function_calling": True,
                "deprecation_date": "2027-01-14",
                "successor_model": "openai/gpt-z",
            },
            "gpt-y-pro": {
                "litellm_provider": "openai",
                "mode": "responses",
                "supported_modalities": ["text", "audio"],
                "deprecation_date": "soon",
                "successor_model": "one of ours",
            },
            "whisper": {"litellm_provider": "openai", "mode": "audio_transcription"},
            "ft:gpt x": {"litellm_provider": "openai", "mode": "chat"},
            "azure/eu/gpt-x": {"litellm_provider": "azure", "mode": "chat"},
            "groq/openai/oss": {"litellm_provider": "groq", "mode": "chat", "max_output_tokens": "many"},
            "gpt-z": {"litellm_provider": "elsewhere", "mode": "chat"},
        }
    )
    assert list(found) == [
        "openai gpt-x 100 - ti t 2027-01-14 gpt-z",
        "openai gpt-y-pro - - ta - - -",
        "groq openai/oss - - t - - -",
    ]


def test_a_model_that_was_shut_down_names_its_successor() -> None:
    note = "openai/gpt-5-mini was shut down on 2026-12-11; its successor is openai/gpt-5.6-terra"
    assert shutdown_note("openai/gpt-5-mini", date(2026, 12, 11)) == note
    assert shutdown_note("openai/gpt-5-mini", date(2026, 12, 10)) is None
    assert shutdown_note("custom/gpt-5-mini", date(2027, 1, 1)) is None


def test_nothing_that_people_read_names_a_model_that_is_shut_down_within_six_months() -> None:
    folders = ("README.md", "docs", "samples", "cupel", "shared", "functions", "web/src", "template.yaml")
    listed = subprocess.run(["git", "ls-files", *folders], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    until, named = date.fromisoformat(model_list.AS_OF) + NOTICE, []
    for name in listed.split():
        if name.endswith("providers/model_list.py"):
            continue
        for match in _NAMED.finditer((ROOT / name).read_text(errors="replace")):
            shutdown = metadata_of(match[0]).shutdown_on
            if shutdown is not None and shutdown <= until:
                named.append((name, match[0], str(shutdown)))
    assert named == []
