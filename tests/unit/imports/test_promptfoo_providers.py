import pytest

from cupel_core.imports.promptfoo.providers import to_model
from tests.unit.imports.reading import read_suite


@pytest.mark.parametrize(
    ("identifier", "model"),
    [
        ("echo", "sim/echo"),
        ("openai:gpt-5-mini", "openai/gpt-5-mini"),
        ("openai:chat:gpt-5-mini", "openai/gpt-5-mini"),
        ("openai:responses:gpt-5", "openai/gpt-5"),
        ("openai:chat:ft:gpt-4o:org", "openai/ft:gpt-4o:org"),
        ("anthropic:messages:claude-sonnet-4-5", "anthropic/claude-sonnet-4-5"),
        ("google:gemini-2.5-flash", "google/gemini-2.5-flash"),
        ("vertex:gemini-2.5-pro", "google/gemini-2.5-pro"),
        ("bedrock:amazon.nova-lite-v1:0", "bedrock/amazon.nova-lite-v1:0"),
        ("bedrock:converse:amazon.nova-lite-v1:0", "bedrock/amazon.nova-lite-v1:0"),
        ("mistral:mistral-large-latest", "mistral/mistral-large-latest"),
        ("deepseek:deepseek-chat", "deepseek/deepseek-chat"),
        ("xai:grok-4", "xai/grok-4"),
        ("ollama:chat:llama3.2", "custom/llama3.2"),
        ("ollama:llama3.2:1b", "custom/llama3.2:1b"),
        ("sim/steady", "sim/steady"),
        ("openai:chat", None),
        ("openai:embedding:text-embedding-3-small", None),
        ("openai:image:dall-e-3", None),
        ("file://provider.js", None),
        ("exec:python provider.py", None),
        ("https://example.org/chat", None),
        ("replicate:meta/llama", None),
    ],
)
def test_a_provider_is_a_model(identifier: str, model: str | None) -> None:
    assert to_model(identifier) == model


def config(*providers: object) -> dict[str, object]:
    return {"prompts": ["A", {"raw": "B", "label": "b"}], "providers": list(providers)}


def test_models_are_suggested_for_their_prompts() -> None:
    found = read_suite(config("echo", {"id": "openai:gpt-5-mini", "label": "mini", "prompts": ["b"]}))
    assert [draft.models for draft in found.drafts] == [("sim/echo",), ("sim/echo", "openai/gpt-5-mini")]


def test_a_common_temperature_is_suggested_for_the_run() -> None:
    one = {"id": "openai:gpt-5-mini", "config": {"temperature": 0}}
    assert read_suite(config(one)).temperature == 0
    assert read_suite(config(one, "echo")).temperature is None


def test_providers_and_options_without_equivalent_are_skipped() -> None:
    found = read_suite(config("file://x.py", {"id": "openai:gpt-5-mini", "config": {"top_p": 1}, "delay": 5}))
    assert [note.where for note in found.report.skipped] == [
        "providers.0",
        "providers.1.config.top_p",
        "providers.1.delay",
    ]
