"""Google Vertex AI: Gemini and Claude, in the formats of their makers.

The account's base URL is that of a project's location, `https://<location>-aiplatform.googleapis.com/v1/projects/
<project>/locations/<location>`; without one, an API key is used in express mode, which has Gemini only. The key is an
API key, the JSON of a service account's key (see `access_tokens`) or an access token, which expires within an hour.
"""

from dataclasses import replace
from urllib.parse import quote

from cupel_core.domain.conversations.model_request import ModelRequest, Reply
from cupel_core.providers import anthropic, google, is_claude
from cupel_core.providers.account import Account
from cupel_core.providers.wire_format import WireRequest, api_key_of, endpoint_url

ANTHROPIC_VERSION = "vertex-2023-10-16"
_ACCESS_TOKEN = "ya29."  # noqa: S105 - what Google's access tokens begin with


def request_for(account: Account, model_name: str, request: ModelRequest) -> WireRequest:
    headers = key_header(account)
    keyless = replace(account, api_key=None)
    if is_claude(model_name):
        body = anthropic.request_for(keyless, model_name, request).body
        body = {"anthropic_version": ANTHROPIC_VERSION, **{name: body[name] for name in body if name != "model"}}
        return WireRequest(_url(account, "anthropic", model_name, "rawPredict"), body, headers)
    body = google.request_for(keyless, model_name, request).body
    return WireRequest(_url(account, "google", model_name, "generateContent"), body, headers)


def prediction_request(account: Account, model_name: str, body: dict[str, object]) -> WireRequest:
    """Return a request for Google's models that do not generate content, such as embeddings."""
    return WireRequest(_url(account, "google", model_name, "predict"), body, key_header(account))


def parse(body: object) -> Reply:
    is_message = isinstance(body, dict) and body.get("type") == "message"
    return anthropic.parse(body) if is_message else google.parse(body)


def key_header(account: Account) -> dict[str, str]:
    key = api_key_of(account)
    if not key:
        return {}
    return {"authorization": f"Bearer {key}"} if key.startswith(_ACCESS_TOKEN) else {"x-goog-api-key": key}


def _url(account: Account, publisher: str, model_name: str, method: str) -> str:
    return endpoint_url(account, f"publishers/{publisher}/models/{quote(model_name, safe='@')}:{method}")
