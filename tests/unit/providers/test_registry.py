import pytest

from cupel_core.errors import Invalid
from cupel_core.providers import PROVIDERS, model_name_of, provider_of


def test_the_providers_are_these_in_this_order() -> None:
    expected = "openai anthropic google bedrock mistral deepseek xai custom connector sim"
    assert " ".join(PROVIDERS) == expected


def test_a_model_belongs_to_the_provider_before_its_first_slash() -> None:
    assert provider_of("custom/org/llama-3").name == "custom"
    assert model_name_of("custom/org/llama-3") == "org/llama-3"


def test_only_a_custom_server_needs_its_address_from_the_account() -> None:
    assert [name for name, provider in PROVIDERS.items() if provider.needs_base_url] == ["custom"]


@pytest.mark.parametrize("model", ["", "gpt-5", "openai/", "openai/ ", "nobody/gpt-5", "OpenAI/gpt-5"])
def test_any_other_model_is_invalid_and_the_error_names_the_callers_field(model: str) -> None:
    with pytest.raises(Invalid) as caught:
        provider_of(model, field="models.2")
    assert caught.value.errors[0].field == "models.2"


def test_the_error_for_an_unknown_provider_lists_the_known_ones() -> None:
    with pytest.raises(Invalid) as caught:
        provider_of("nobody/gpt-5")
    message = caught.value.errors[0].message
    assert message == f'unknown provider for model "nobody/gpt-5"; known providers: {", ".join(PROVIDERS)}'
