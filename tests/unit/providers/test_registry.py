import pytest

from cupel_core.base.errors import Invalid
from cupel_core.providers import PROVIDERS, QUEUES, find_provider, model_name_of, provider_of, queue_of


def test_the_providers_are_these_in_this_order() -> None:
    assert " ".join(PROVIDERS) == (
        "openai anthropic google bedrock mistral deepseek xai"
        " azure cohere fireworks groq openrouter perplexity together vertex custom connector sim"
    )


def test_presets_share_the_queues_of_custom() -> None:
    assert " ".join(QUEUES) == "openai anthropic google bedrock mistral deepseek xai custom connector sim"
    assert {queue_of(name) for name in PROVIDERS.keys() - set(QUEUES)} == {"custom"}
    assert queue_of("openai") == "openai"


def test_a_model_belongs_to_the_provider_before_its_first_slash() -> None:
    assert provider_of("custom/org/llama-3").name == "custom"
    assert model_name_of("custom/org/llama-3") == "org/llama-3"


def test_only_servers_of_ones_own_and_azure_need_their_address_from_the_account() -> None:
    assert [name for name, provider in PROVIDERS.items() if provider.needs_base_url] == ["azure", "custom"]


@pytest.mark.parametrize("name", ["custom-a", "custom-gpu-box-2", f"custom-{'a' * 40}"])
def test_a_server_of_ones_own_is_a_provider_by_its_name(name: str) -> None:
    provider = provider_of(f"{name}/org/llama-3")
    assert (provider.name, provider.wire_format, provider.base_url) == (name, "openai", "")
    assert (provider.needs_base_url, provider.needs_key, queue_of(name)) == (True, False, "custom")


@pytest.mark.parametrize("name", ["custom-", "custom-A", "custom--a", "custom-a-", "custom-a_b", f"custom-{'a' * 41}"])
def test_the_error_for_another_name_says_what_names_there_are(name: str) -> None:
    assert find_provider(name) is None
    with pytest.raises(Invalid, match="1 to 40 lower-case letters, digits and inner hyphens"):
        provider_of(f"{name}/m")


@pytest.mark.parametrize(
    "model", ["", "gpt-5", "openai/", "openai/ ", "openai/responses:", "nobody/gpt-5", "OpenAI/gpt-5"]
)
def test_any_other_model_is_invalid_and_the_error_names_the_callers_field(model: str) -> None:
    with pytest.raises(Invalid) as caught:
        provider_of(model, field="models.2")
    assert caught.value.errors[0].field == "models.2"


def test_the_error_for_an_unknown_provider_lists_the_known_ones() -> None:
    with pytest.raises(Invalid) as caught:
        provider_of("nobody/gpt-5")
    message = caught.value.errors[0].message
    assert message == f'unknown provider for model "nobody/gpt-5"; known providers: {", ".join(PROVIDERS)}'
