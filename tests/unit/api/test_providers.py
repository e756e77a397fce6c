from typing import Any

import pytest
from botocore.stub import Stubber

from cupel_core.accounts import keys as accounts
from cupel_core.domain.resources.providers import ModelPrice
from cupel_core.providers import PROVIDERS
from cupel_core.store import clients, keys, providers
from cupel_core.store.settings import settings
from tests.unit.api.client import Client
from tests.unit.concurrent_removal import set_during_removal

KEY = "sk-" + "secret" * 5


def test_every_provider_is_listed_before_anything_is_set(client: Client) -> None:
    items = client.get("/v1/providers").json()["items"]
    assert [item["name"] for item in items] == list(PROVIDERS)
    usable = {item["name"] for item in items if item["usable"]}
    assert usable == {"connector", "sim"}


def test_a_key_makes_a_provider_usable_and_is_never_returned(client: Client) -> None:
    answer = client.put("/v1/providers/openai", {"apiKey": KEY})
    assert (answer.json()["hasKey"], answer.json()["usable"]) == (True, True)
    assert KEY not in answer.text + client.get("/v1/providers").text


def test_a_key_lies_in_secrets_manager_and_not_in_the_table(client: Client) -> None:
    client.put("/v1/providers/openai", {"apiKey": KEY})
    assert accounts.load_account("acme", "openai").api_key == KEY
    secret = clients.secretsmanager().get_secret_value(SecretId="cupel-test/acme/openai")
    assert secret["SecretString"] == KEY
    stored = clients.dynamodb().scan(TableName="cupel-test")["Items"]
    assert keys.provider("acme") in str(stored)
    assert KEY not in str(stored)


def test_a_key_that_is_not_readable_yet_is_looked_for_again(client: Client) -> None:
    """Secrets Manager is eventually consistent: a version just written, or a secret being deleted, may be missing."""
    client.put("/v1/providers/openai", {"apiKey": KEY})
    accounts.clear_key_cache()
    with Stubber(clients.secretsmanager()) as stub:
        stub.add_client_error("get_secret_value", "ResourceNotFoundException")
        assert accounts.load_account("acme", "openai").api_key is None
    assert accounts.load_account("acme", "openai").api_key == KEY


def test_a_key_is_replaced_and_deleted(client: Client) -> None:
    client.put("/v1/providers/openai", {"apiKey": KEY})
    client.put("/v1/providers/openai", {"apiKey": "other"})
    assert accounts.load_account("acme", "openai").api_key == "other"
    assert client.put("/v1/providers/openai", {"apiKey": None}).json()["hasKey"] is False
    assert accounts.load_account("acme", "openai").api_key is None
    assert client.put("/v1/providers/openai", {"apiKey": None}).status == 200


def test_a_new_address_needs_the_key_again(client: Client) -> None:
    client.put("/v1/providers/openai", {"apiKey": KEY})
    refused = client.put("/v1/providers/openai", {"baseUrl": "https://elsewhere.test/v1"})
    assert (refused.status, refused.fields()) == (422, ["apiKey"])
    assert accounts.load_account("acme", "openai").base_url == PROVIDERS["openai"].base_url


def test_going_back_to_the_default_address_needs_the_key_again(client: Client) -> None:
    client.put("/v1/providers/openai", {"baseUrl": "https://proxy.test/v1", "apiKey": "proxy-key"})
    assert client.put("/v1/providers/openai", {"baseUrl": None}).fields() == ["apiKey"]


@pytest.mark.parametrize("key", ["other", None])
def test_an_address_changes_with_a_new_key_or_none(client: Client, key: str | None) -> None:
    client.put("/v1/providers/openai", {"apiKey": KEY})
    client.put("/v1/providers/openai", {"baseUrl": "https://elsewhere.test/v1", "apiKey": key})
    account = accounts.load_account("acme", "openai")
    assert (account.base_url, account.api_key) == ("https://elsewhere.test/v1", key)


def test_the_same_address_again_needs_no_key(client: Client) -> None:
    client.put("/v1/providers/openai", {"apiKey": KEY})
    assert client.put("/v1/providers/openai", {"baseUrl": f"{PROVIDERS['openai'].base_url}/"}).status == 200
    assert accounts.load_account("acme", "openai").api_key == KEY


def test_a_key_set_while_the_address_changes_is_a_conflict(monkeypatch: pytest.MonkeyPatch, client: Client) -> None:
    before = providers.get("acme", "openai")
    client.put("/v1/providers/openai", {"apiKey": KEY})
    monkeypatch.setattr(providers, "get", lambda *_: before)
    assert client.put("/v1/providers/openai", {"baseUrl": "https://elsewhere.test/v1"}).status == 409


def test_the_address_of_bedrock_is_an_endpoint_of_bedrock(client: Client) -> None:
    assert client.put("/v1/providers/bedrock", {"baseUrl": "https://elsewhere.test"}).fields() == ["baseUrl"]
    regional = {"baseUrl": "https://bedrock-runtime.eu-west-1.amazonaws.com"}
    assert client.put("/v1/providers/bedrock", regional).status == 200


def test_a_change_leaves_other_fields_alone(client: Client) -> None:
    client.put("/v1/providers/openai", {"apiKey": KEY, "maxParallelRequests": 7})
    changed = client.put("/v1/providers/openai", {"requestsPerMinute": 60}).json()
    assert (changed["hasKey"], changed["maxParallelRequests"], changed["requestsPerMinute"]) == (True, 7, 60)


def test_null_goes_back_to_the_default(client: Client) -> None:
    client.put("/v1/providers/openai", {"maxParallelRequests": 7, "baseUrl": "http://127.0.0.1:9/v1/"})
    changed = client.put("/v1/providers/openai", {"maxParallelRequests": None, "baseUrl": None}).json()
    assert (changed["maxParallelRequests"], changed["baseUrl"]) == (50, PROVIDERS["openai"].base_url)


@pytest.mark.parametrize("change", [{"baseUrl": "http://127.0.0.1:9"}, {"apiKey": KEY}])
def test_connectors_have_limits_together_and_addresses_and_headers_each(client: Client, change: dict[str, str]) -> None:
    assert client.put("/v1/providers/connector", {"maxParallelRequests": 3}).json()["maxParallelRequests"] == 3
    refused = client.put("/v1/providers/connector", change)
    assert (refused.status, refused.json()["errors"][0]["field"]) == (422, next(iter(change)))


def test_connectors_are_no_models(client: Client) -> None:
    assert client.get("/v1/models", query={"provider": "connector"}).json()["items"] == []


def test_a_disabled_provider_is_not_usable(client: Client) -> None:
    assert client.put("/v1/providers/sim", {"enabled": False}).json()["usable"] is False
    assert accounts.load_account("acme", "sim").enabled is False


def test_custom_is_usable_with_an_address_alone(client: Client) -> None:
    assert client.put("/v1/providers/custom", {"baseUrl": "http://127.0.0.1:11434/v1"}).json()["usable"] is True


def server(client: Client, name: str, **changes: Any) -> dict[str, Any]:
    return dict(client.put(f"/v1/providers/{name}", {"baseUrl": f"https://{name}.test/v1", **changes}).json())


def test_a_workspace_has_several_servers_each_with_its_own_key_limits_and_prices(client: Client) -> None:
    amounts = {
        "inputUsdPerMillion": 0.2,
        "outputUsdPerMillion": 0.6,
        "cachedInputUsdPerMillion": None,
        "usdPerCall": 0.0,
    }
    price = {"model": "llama", **amounts}
    server(client, "custom-gpu", apiKey=KEY, maxParallelRequests=7)
    server(client, "custom-laptop", prices=[price])
    items = {item["name"]: item for item in client.get("/v1/providers").json()["items"]}
    assert list(items)[-2:] == ["custom-gpu", "custom-laptop"]
    gpu, laptop = items["custom-gpu"], items["custom-laptop"]
    assert (gpu["hasKey"], gpu["maxParallelRequests"], gpu["prices"]) == (True, 7, [])
    assert (laptop["hasKey"], laptop["usable"], laptop["prices"]) == (False, True, [price])
    account = accounts.load_account("acme", "custom-laptop")
    assert (account.base_url, account.api_key) == ("https://custom-laptop.test/v1", None)
    assert account.price_of("llama") == ModelPrice("llama", 0.2, 0.6)
    assert accounts.model_error("acme", "custom-gpu/llama") is None


def test_a_server_is_gone_once_it_has_no_address(client: Client) -> None:
    server(client, "custom-gpu", apiKey=KEY)
    assert client.put("/v1/providers/custom-gpu", {"baseUrl": None, "apiKey": None}).json()["usable"] is False
    assert "custom-gpu" not in client.get("/v1/providers").text
    assert accounts.load_account("acme", "custom-gpu").api_key is None
    assert "has no baseUrl" in str(accounts.model_error("acme", "custom-gpu/llama"))


def test_a_new_server_needs_an_address(client: Client) -> None:
    refused = client.put("/v1/providers/custom-gpu", {"maxParallelRequests": 3})
    assert (refused.status, refused.fields()) == (422, ["baseUrl"])


def test_the_number_of_servers_is_bounded(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accounts, "MAX_OWN_SERVERS", 1)
    server(client, "custom-gpu")
    assert client.put("/v1/providers/custom-two", {"baseUrl": "https://two.test"}).status == 409
    assert client.put("/v1/providers/custom-gpu", {"baseUrl": "https://three.test"}).status == 200


def test_the_key_of_a_server_stays_with_its_address(client: Client) -> None:
    server(client, "custom-gpu", apiKey=KEY)
    refused = client.put("/v1/providers/custom-gpu", {"baseUrl": "https://elsewhere.test/v1"})
    assert (refused.status, refused.fields()) == (422, ["apiKey"])


def test_another_name_is_not_found_and_the_error_says_what_names_there_are(client: Client) -> None:
    refused = client.put("/v1/providers/custom-GPU", {"baseUrl": "https://gpu.test"})
    assert refused.status == 404
    assert "custom-<name>" in refused.text


def test_a_model_is_listed_with_its_limits_and_what_it_takes(client: Client) -> None:
    items = client.get("/v1/models", query={"provider": "openai", "limit": "100"}).json()["items"]
    (mini,) = [item for item in items if item["id"] == "openai/gpt-5-mini"]
    assert (mini["contextLength"], mini["maxOutputTokens"]) == (272_000, 128_000)
    assert mini["inputModalities"] == ["text", "image", "pdf"]
    assert "tools" in mini["supportedParameters"]
    (steady, *_) = client.get("/v1/models", query={"provider": "sim"}).json()["items"]
    assert (steady["contextLength"], steady["inputModalities"], steady["supportedParameters"]) == (None, None, None)


def test_models_with_a_price_of_ones_own_are_listed_with_it(client: Client) -> None:
    prices = [
        {"model": "llama", "inputUsdPerMillion": 0.2, "outputUsdPerMillion": 0.6},
        {"model": None, "inputUsdPerMillion": 1.0, "outputUsdPerMillion": 1.0},
    ]
    server(client, "custom-gpu", prices=prices)
    (model,) = client.get("/v1/models", query={"provider": "custom-gpu"}).json()["items"]
    assert (model["id"], model["inputUsdPerMillion"], model["usable"]) == ("custom-gpu/llama", 0.2, True)
    assert client.put("/v1/providers/sim", {"prices": [{**prices[0], "model": "bold"}, prices[1]]}).status == 200
    listed = client.get("/v1/models", query={"provider": "sim"}).json()["items"]
    shown = {each["id"]: each["inputUsdPerMillion"] for each in listed}
    assert (shown["sim/bold"], shown["sim/steady"]) == (0.2, 1.0)


def test_prices_may_have_one_of_cached_input_and_one_of_a_call(client: Client) -> None:
    price = {"model": "m", "inputUsdPerMillion": 1.0, "outputUsdPerMillion": 2.0}
    full = {**price, "cachedInputUsdPerMillion": 0.1, "usdPerCall": 0.02}
    per_call = {**price, "model": None, "usdPerCall": 0.5}
    told = client.put("/v1/providers/openai", {"prices": [full, per_call]}).json()["prices"]
    assert told == [full, {**per_call, "cachedInputUsdPerMillion": None}]
    assert client.get("/v1/providers/openai").json()["prices"] == told


def test_cached_input_is_not_dearer_than_other_input(client: Client) -> None:
    price = {"inputUsdPerMillion": 1, "outputUsdPerMillion": 2, "cachedInputUsdPerMillion": 1.5}
    refused = client.put("/v1/providers/openai", {"prices": [price]})
    assert (refused.status, "at most inputUsdPerMillion" in refused.text) == (422, True)


@pytest.mark.parametrize(
    ("prices", "field"),
    [
        ([{"model": "a", "inputUsdPerMillion": -1, "outputUsdPerMillion": 1}], "prices.0.inputUsdPerMillion"),
        ([{"model": "", "inputUsdPerMillion": 1, "outputUsdPerMillion": 1}], "prices.0.model"),
        ([{"model": "a", "inputUsdPerMillion": 1}], "prices.0.outputUsdPerMillion"),
        ([{"model": "a", "inputUsdPerMillion": 1, "outputUsdPerMillion": 1}] * 2, "prices"),
    ],
)
def test_a_wrong_price_is_refused(client: Client, prices: list[dict[str, Any]], field: str) -> None:
    refused = client.put("/v1/providers/openai", {"prices": prices})
    assert (refused.status, refused.fields()) == (422, [field])


def test_null_forgets_prices(client: Client) -> None:
    client.put("/v1/providers/openai", {"prices": [{"inputUsdPerMillion": 1, "outputUsdPerMillion": 1}]})
    assert client.put("/v1/providers/openai", {"prices": None}).json()["prices"] == []


SERVICE_ACCOUNT = (
    '{\n  "client_email": "a@p.iam.gserviceaccount.com",\n  "private_key": "-----BEGIN PRIVATE KEY-----"\n}'
)


def test_the_key_of_a_google_service_account_is_the_json_of_its_file(client: Client) -> None:
    assert client.put("/v1/providers/vertex", {"apiKey": SERVICE_ACCOUNT}).json()["hasKey"] is True
    assert accounts.load_account("acme", "vertex").api_key == SERVICE_ACCOUNT


def test_the_credentials_of_an_azure_service_principal_are_the_json_of_their_file(client: Client) -> None:
    credentials = '{\n  "appId": "1", "displayName": "cupel",\n  "password": "s~cret", "tenant": "contoso.com"\n}'
    assert client.put("/v1/providers/azure", {"apiKey": credentials}).json()["hasKey"] is True
    assert accounts.load_account("acme", "azure").api_key == credentials


@pytest.mark.parametrize(
    "key", ["two words", '{"client_email": "a"}', "[" * 5_000, SERVICE_ACCOUNT + " " * 9_000, "{" + "é" * 9]
)
def test_other_keys_have_no_spaces(client: Client, key: str) -> None:
    refused = client.put("/v1/providers/vertex", {"apiKey": key})
    assert (refused.status, refused.fields()) == (422, ["apiKey"])
    assert "service account" in refused.text


def test_an_azure_address_may_name_the_version_of_its_api(client: Client) -> None:
    address = "https://cupel.openai.azure.com?api-version=2024-10-21"
    assert client.put("/v1/providers/azure", {"baseUrl": address}).json()["baseUrl"] == address
    refused = client.put("/v1/providers/azure", {"baseUrl": "https://cupel.openai.azure.com?key=secret"})
    assert (refused.status, refused.fields()) == (422, ["baseUrl"])


def test_settings_of_one_workspace_are_not_those_of_another(client: Client, stranger: str) -> None:
    client.put("/v1/providers/openai", {"apiKey": KEY})
    openai = client.get("/v1/providers", token=stranger).json()["items"][0]
    assert openai["hasKey"] is False
    assert accounts.load_account("other", "openai").api_key is None


def test_a_member_may_not_set_up_a_provider(client: Client, member: str) -> None:
    assert client.put("/v1/providers/openai", {"apiKey": KEY}, token=member).status == 403


def test_an_unknown_provider_is_not_found(client: Client) -> None:
    assert client.put("/v1/providers/acme", {}).status == 404


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("baseUrl", "ftp://example.org"),
        ("baseUrl", "/v1"),
        ("baseUrl", "http://user:pass@example.org"),
        ("baseUrl", "https://example.org/?key=1"),
        ("baseUrl", "https://example.org/v1?"),
        ("baseUrl", "https://example.org/v1#"),
        ("baseUrl", "https://example.org/v1#part"),
        ("baseUrl", "https://@example.org"),
        ("baseUrl", "https://example.org\\@10.0.0.1"),
        ("baseUrl", "https://example.org/\x00"),
        ("baseUrl", "https://example.org/\r\nx"),
        ("baseUrl", "file:///etc/passwd"),
        ("baseUrl", "http://[::1"),
        ("baseUrl", "http://example.org:99999"),
        ("baseUrl", "http://exa mple.org"),
        ("apiKey", ""),
        ("apiKey", "line\nbreak"),
        ("apiKey", 7),
        ("enabled", "yes"),
        ("maxParallelRequests", 0),
        ("maxParallelRequests", 1001),
        ("maxParallelRequests", "7"),
        ("requestsPerMinute", 0),
        ("tokensPerMinute", 1.5),
        ("colour", "blue"),
    ],
)
def test_a_wrong_setting_is_named(client: Client, field: str, value: Any) -> None:
    answer = client.put("/v1/providers/openai", {field: value})
    assert (answer.status, answer.fields()) == (422, [field])


def test_a_refused_key_is_not_repeated(client: Client) -> None:
    assert KEY not in client.put("/v1/providers/openai", {"apiKey": f"{KEY}\n"}).text


def test_models_have_prices_and_whether_they_are_usable(client: Client) -> None:
    items = client.get("/v1/models", query={"provider": "sim"}).json()["items"]
    assert "sim/steady" in {item["id"] for item in items}
    assert all(item["simulated"] and item["usable"] and item["provider"] == "sim" for item in items)


def test_models_are_paged(client: Client) -> None:
    first = client.get("/v1/models", query={"limit": 2}).json()
    second = client.get("/v1/models", query={"limit": 2, "cursor": first["nextCursor"]}).json()
    ids = [item["id"] for item in first["items"] + second["items"]]
    assert len(set(ids)) == 4


def test_models_of_an_unknown_provider_are_refused(client: Client) -> None:
    assert client.get("/v1/models", query={"provider": "acme"}).fields() == ["provider"]


def test_a_key_that_is_set_while_the_earlier_one_is_removed_is_removed_too(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.put("/v1/providers/openai", {"apiKey": "sk-one"})
    set_during_removal(monkeypatch, lambda: client.put("/v1/providers/openai", {"apiKey": "sk-two"}))
    assert client.put("/v1/providers/openai", {"apiKey": None}).json()["hasKey"] is False
    assert client.get("/v1/providers/openai").json()["hasKey"] is False


def test_bedrock_is_not_usable_without_a_key(client: Client) -> None:
    models = client.get("/v1/models", query={"provider": "bedrock"}).json()["items"]
    assert models
    assert not any(model["usable"] for model in models)
    error = accounts.model_error("acme", "bedrock/amazon.nova-lite-v1:0")
    assert error == "provider bedrock has no API key: PUT /v1/providers/bedrock sets it"


def test_the_operator_opens_models_of_bedrock_to_the_stack_s_role(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BEDROCK_MODELS", "amazon.nova-*, meta.llama4-scout-17b-instruct-v1:0")
    settings.cache_clear()
    models = client.get("/v1/models", query={"provider": "bedrock", "limit": "100"}).json()["items"]
    usable = {model["id"] for model in models if model["usable"]}
    assert "bedrock/amazon.nova-lite-v1:0" in usable
    assert all(name.startswith(("bedrock/amazon.nova-", "bedrock/meta.llama4-scout")) for name in usable)
    assert accounts.model_error("acme", "bedrock/amazon.nova-lite-v1:0") is None
    refused = accounts.model_error("acme", "bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0")
    assert refused is not None
    assert refused.startswith("provider bedrock has no API key, and the stack's operator allows its role amazon.nova-*")
    client.put("/v1/providers/bedrock", {"apiKey": KEY})
    assert accounts.model_error("acme", "bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0") is None
