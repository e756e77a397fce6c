"""The function that serves the web page, with files of its own in the place of the built ones."""

import base64
import gzip
import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import pytest
from botocore.config import Config
from botocore.session import get_session

from cupel_core.domain.reports.summaries import MAX_OUTPUT_TOKENS, MAX_SHOWN_TOKENS
from page import app as page
from tests.conftest import ROOT

SCRIPT = b"console.log('page');"
HTML = '<!doctype html>\n<html lang="en">\n  <head>\n    <title>Cupel</title>\n  </head>\n</html>\n'


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assets = tmp_path / "dist" / "assets"
    assets.mkdir(parents=True)
    (assets.parent / "index.html").write_text(HTML)
    (assets / "index-1a2b.js").write_bytes(SCRIPT)
    (assets / "index-1a2b.js.gz").write_bytes(gzip.compress(SCRIPT))
    (assets / "index-1a2b.js.br").write_bytes(b"compressed with brotli")
    (assets / "plain-3c4d.css").write_bytes(b"p {}")
    (assets / "letters-5e6f.woff2").write_bytes(b"wOF2")
    (tmp_path / "dist" / "secret.js").write_text("outside of assets")
    monkeypatch.setattr(page, "_FOLDER", tmp_path / "dist")
    page._read.cache_clear()
    page._template.cache_clear()


def ask(path: str, method: str = "GET", **headers: str) -> dict[str, Any]:
    lower = {name.lower().replace("_", "-"): value for name, value in headers.items()}
    return page.handler({"rawPath": path, "headers": lower, "requestContext": {"http": {"method": method}}}, None)


def base_of(answer: dict[str, Any]) -> str:
    found = re.search(r'<base href="([^"]*)" />', answer["body"])
    assert found
    return found[1]


@pytest.mark.parametrize("path", ["/", "/runs", "/runs/run_1", "/runs/run_1/judge", "/runs/"])
def test_every_address_answers_with_the_page_based_at_its_root(path: str) -> None:
    answer = ask(path)
    assert (answer["statusCode"], answer["headers"]["Content-Type"]) == (200, "text/html; charset=utf-8")
    for origin in ("https://cupel.example", "http://127.0.0.1:4566/_aws/execute-api/cupel/$default"):
        assert urljoin(origin + path, base_of(answer)) == f"{origin}/"


@pytest.mark.parametrize("path", ["/nothing/like/it", "/graphql", "/runs/run_1/nothing", "/api/scale/x/status"])
def test_an_unknown_address_is_not_found(path: str) -> None:
    shown = ask(path, accept="text/html,application/xhtml+xml")
    assert (shown["statusCode"], shown["headers"]["Content-Type"]) == (404, "text/html; charset=utf-8")
    assert urljoin(f"https://cupel.example{path}", base_of(shown)) == "https://cupel.example/"
    for method in ("GET", "POST"):
        problem = ask(path, method, accept="*/*")
        assert (problem["statusCode"], problem["headers"]["Content-Type"]) == (404, "application/problem+json")
        assert json.loads(problem["body"])["title"] == "Not found"


def test_a_client_of_another_path_is_told_where_graphql_is() -> None:
    assert json.loads(ask("/graphql")["body"])["detail"] == "GraphQL is at /v1/graphql"


def test_the_addresses_are_those_of_the_page_s_router() -> None:
    router = (ROOT / "web" / "src" / "router.tsx").read_text()
    routes = re.findall(r"const (\w+) = createRoute\(\{\s*getParentRoute: \(\) => (\w+),\s*path: \"([^\"]+)\"", router)
    assert len(routes) == router.count("createRoute({")
    paths = {"root": ""}
    for name, parent, path in routes:
        paths[name] = paths[parent] + path
    known = {re.sub(r"\$\w+", "$", path.rstrip("/") or "/") for name, path in paths.items() if name != "root"}
    assert known == set(page.ADDRESSES)


def test_the_page_is_asked_for_again_each_time_and_sent_only_if_it_has_changed() -> None:
    first = ask("/runs")
    assert first["headers"]["Cache-Control"] == "no-cache"
    again = ask("/runs", if_none_match=first["headers"]["ETag"])
    assert (again["statusCode"], again["body"]) == (304, "")
    assert ask("/runs/run_1", if_none_match=first["headers"]["ETag"])["statusCode"] == 200


@pytest.mark.parametrize(
    ("accepted", "encoding"),
    [
        ("gzip, deflate, br", "br"),
        ("gzip", "gzip"),
        ("br;q=0, gzip;q=0.5", "gzip"),
        ("identity", None),
        ("", None),
    ],
)
def test_an_asset_is_sent_as_it_was_compressed_when_it_was_built(accepted: str, encoding: str | None) -> None:
    answer = ask("/assets/index-1a2b.js", accept_encoding=accepted)
    sent = {"br": b"compressed with brotli", "gzip": gzip.compress(SCRIPT), None: SCRIPT}[encoding]
    body = base64.b64decode(answer["body"])
    assert (gzip.decompress(body) if encoding == "gzip" else body) == (SCRIPT if encoding == "gzip" else sent)
    assert (answer["headers"].get("Content-Encoding"), answer["headers"]["Vary"]) == (encoding, "Accept-Encoding")


def test_a_font_is_served_as_it_is() -> None:
    answer = ask("/assets/letters-5e6f.woff2", accept_encoding="br")
    assert (answer["statusCode"], answer["headers"]["Content-Type"]) == (200, "font/woff2")
    assert base64.b64decode(answer["body"]) == b"wOF2"
    assert "Content-Encoding" not in answer["headers"]


def test_an_asset_that_was_not_compressed_is_sent_as_it_is() -> None:
    answer = ask("/assets/plain-3c4d.css", accept_encoding="br")
    assert (base64.b64decode(answer["body"]), "Content-Encoding" in answer["headers"]) == (b"p {}", False)


def test_the_sample_event_of_a_missing_asset_is_not_found() -> None:
    sample = json.loads((ROOT / "events" / "page-missing-asset.json").read_text())
    assert page.handler(sample, None)["statusCode"] == 404


def test_an_asset_never_changes() -> None:
    assert ask("/assets/index-1a2b.js")["headers"]["Cache-Control"] == "public, max-age=31536000, immutable"


@pytest.mark.parametrize(
    "path",
    [
        "/assets/missing-1a2b.js",
        "/assets/../secret.js",
        "/assets/..",
        "/assets/%2e%2e/secret.js",
        "/assets/",
        "/assets/index-1a2b.js.br",
        "/assets/x/index-1a2b.js",
        "/v1",
        "/" * 30,
    ],
)
def test_a_missing_file_is_not_found_and_never_the_page(path: str) -> None:
    answer = ask(path)
    assert (answer["statusCode"], answer["headers"]["Content-Type"]) == (404, "text/plain; charset=utf-8")
    assert answer["headers"]["Cache-Control"] == "no-store"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"])
def test_other_methods_than_get_and_head_are_refused(method: str) -> None:
    answer = ask("/runs", method)
    assert (answer["statusCode"], answer["headers"]["Allow"]) == (405, "GET, HEAD")


def test_head_answers_like_get_without_a_body() -> None:
    got, head = ask("/runs"), ask("/runs", "HEAD")
    assert (head["statusCode"], head["headers"], head["body"]) == (200, got["headers"], "")


@pytest.mark.parametrize("request_line", ["GET /", "GET /assets/index-1a2b.js", "POST /", "GET /v1"])
def test_every_answer_has_the_security_headers(request_line: str) -> None:
    method, path = request_line.split()
    headers = ask(path, method)["headers"]
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
    policy = dict(each.strip().partition(" ")[::2] for each in headers["Content-Security-Policy"].split(";"))
    assert policy["default-src"] == policy["frame-ancestors"] == policy["form-action"] == "'none'"
    assert policy["script-src"] == policy["connect-src"] == policy["style-src"] == "'self'"
    assert (policy["require-trusted-types-for"], policy["trusted-types"]) == ("'script'", "'none'")


REGIONS = {
    "eu-central-1": "https://cupel-bucket.s3.eu-central-1.amazonaws.com",
    "us-east-1": "https://cupel-bucket.s3.us-east-1.amazonaws.com https://cupel-bucket.s3.amazonaws.com",
    "us-gov-west-1": "https://cupel-bucket.s3.us-gov-west-1.amazonaws.com",
    "cn-north-1": "https://cupel-bucket.s3.cn-north-1.amazonaws.com.cn",
}


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.delenv("AWS_ENDPOINT_URL_S3", raising=False)
    monkeypatch.setenv("BUCKET_NAME", "cupel-bucket")
    return "cupel-bucket"


def images_of(answer: dict[str, Any]) -> str:
    policy = dict(each.strip().partition(" ")[::2] for each in answer["headers"]["Content-Security-Policy"].split(";"))
    return policy["img-src"].removeprefix("'self' data:").strip()


@pytest.mark.parametrize("region", REGIONS)
def test_images_are_drawn_from_the_bucket_at_the_addresses_that_are_presigned(
    region: str, bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_REGION", region)
    answer = ask("/runs")
    assert images_of(answer) == REGIONS[region]
    assert f'<meta name="image-origins" content="{REGIONS[region]}" />' in answer["body"]
    config = Config(signature_version="s3v4", s3={"addressing_style": "virtual"})
    client = get_session().create_client("s3", region_name=region, config=config)
    address = client.generate_presigned_url("get_object", Params={"Bucket": bucket, "Key": "files/1"})
    assert address.split("/files/")[0] in REGIONS[region].split()


def test_images_are_drawn_from_the_origin_of_objects_on_one_machine(
    bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:4566/")
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:4567/")
    assert images_of(ask("/runs")) == "http://127.0.0.1:4567"


@pytest.mark.parametrize(
    ("name", "region"), [("", "eu-central-1"), ("x; script-src *", "eu-central-1"), ("cupel-bucket", "'none'")]
)
def test_what_is_no_bucket_or_region_is_in_no_policy(name: str, region: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_ENDPOINT_URL_S3", raising=False)
    monkeypatch.setenv("BUCKET_NAME", name)
    monkeypatch.setenv("AWS_REGION", region)
    answer = ask("/runs")
    assert images_of(answer) == ""
    assert "image-origins" not in answer["body"]


def test_the_page_names_the_issuer_and_may_call_its_origins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OIDC_ISSUER", "https://id.example/pool?a&b")
    assert "oidc" not in ask("/runs")["body"], "without a client id"
    monkeypatch.setenv("OIDC_CLIENT_ID", 'page"><script>')
    monkeypatch.setenv("OIDC_ORIGINS", "https://login.example 'unsafe-inline' https://id.example")
    answer = ask("/runs")
    assert '<meta name="oidc-issuer" content="https://id.example/pool?a&amp;b" />' in answer["body"]
    assert '<meta name="oidc-client-id" content="page&quot;&gt;&lt;script&gt;" />' in answer["body"]
    policy = answer["headers"]["Content-Security-Policy"]
    assert "connect-src 'self' https://id.example https://login.example; base-uri" in policy


def test_a_request_is_logged_in_one_line_without_its_address(capsys: pytest.CaptureFixture[str]) -> None:
    ask("/runs/run_1")
    logged = capsys.readouterr().out
    assert (logged.count("\n"), "run_1" in logged) == (1, False)


def test_the_page_names_the_tokens_that_a_summary_may_take() -> None:
    source = (ROOT / "web" / "src" / "lib" / "report.ts").read_text()
    named = {name: int(value.replace("_", "")) for name, value in re.findall(r"const (\w+_TOKENS) = ([\d_]+);", source)}
    assert named == {"SUMMARY_INPUT_TOKENS": MAX_SHOWN_TOKENS, "SUMMARY_OUTPUT_TOKENS": MAX_OUTPUT_TOKENS}
