"""Converts promptfoo's `http` provider, also one with a raw request, to a connector.

Values of headers may be secrets, so only references to environment variables are kept; users set the others. Addresses
are shown, so parameters that look like secrets are left out of them.
"""

import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode, urlsplit

from cupel_core.domain.definitions.drafts import ConnectorDraft, ImportReport
from cupel_core.domain.resources.connectors import ConnectorType
from cupel_core.domain.text.control_characters import single_line
from cupel_core.interop.imports.files import SCHEME, FileSource, NotImportable, read_file
from cupel_core.interop.imports.json_documents import InvalidDocument, from_json
from cupel_core.interop.imports.promptfoo.configuration_keys import HTTP_OPTIONS, NEEDED_HTTP_OPTIONS
from cupel_core.interop.imports.promptfoo.key_reports import report_keys
from cupel_core.providers.addresses import url_error
from cupel_core.providers.connectors.config import config_errors

_SCHEMES = ("http://", "https://")
_METHODS = ("POST", "PUT", "PATCH")
_VARIABLES = {"prompt": "message", "sessionId": "conversationId"}
_PLACEHOLDER = re.compile(r"(\{\{\s*[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*\s*(?:\|\s*(?:dump|safe)\s*)*\}\})")
_UNQUOTED = re.compile(r"(?<![\"\w])(\{\{\s*[\w.]+\s*\|\s*dump\s*(?:\|\s*safe\s*)?\}\})(?!\")")
_ENVIRONMENT = re.compile(r"\{\{\s*env(?:\.(\w+)|\[\s*['\"](\w+)['\"]\s*\])\s*\}\}")
_ENVIRONMENT_NAME = "env."
_ARROW = re.compile(r"^\(?\s*(\w+)\s*(?:,\s*\w+\s*){0,2}\)?\s*=>\s*")
_PATH = re.compile(r"(?:\??\.\s*([A-Za-z_$][\w$]*)|(?:\?\.)?\[(\d+)\]|(?:\?\.)?\[(?:'([^']+)'|\"([^\"]+)\")\])")
_ALTERNATIVES = re.compile(r"\|\||\?\?")
_TEXT = re.compile(r"'([^'\\]*)'|\"([^\"\\]*)\"")
_EMPTY = '`""`'
_SECRET_PARAMETER = re.compile(r"key|token|secret|passw|auth|sig", re.I)
_MAX_NAME_LENGTH = 200
_CONNECTION_HEADERS = frozenset({"content-type", "content-length", "host", "accept", "connection"})
_ONLY_VARIABLES = re.compile(r"(?:[A-Za-z]+ )?(?:\$\{\w+\})+")
_FIRST_LINE = re.compile(r"([A-Z]+) (\S+) HTTP/[\d.]+")


def is_http(identifier: str) -> bool:
    return identifier in ("http", "https") or identifier.startswith(_SCHEMES)


def to_connector(
    identifier: str, label: Any, written: Mapping[str, Any], where: str, files: FileSource, report: ImportReport
) -> ConnectorDraft:
    """Return the connector for a provider and report its omissions. Raises NotImportable if requests would differ."""
    for name in sorted(set(written) & NEEDED_HTTP_OPTIONS):
        raise NotImportable(f"config.{name}: {HTTP_OPTIONS[name].how}")
    config = with_raw_request(written, is_https=identifier.startswith("https"), files=files)
    url, path = _split_query(_url(config.get("url") or identifier, config.get("queryParams")))
    settings = {
        **({"path": path} if path else {}),
        "method": _method(config),
        "request": _request(config.get("body")),
        "reply": _reply(config.get("transformResponse") or config.get("responseParser")),
        **_conversation_id(config.get("sessionParser")),
    }
    if errors := config_errors(ConnectorType.HTTP, settings):
        raise NotImportable("; ".join(f"{field} {message}" for field, message in errors))
    headers = {**_headers(config.get("headers")), **_authorization(config.get("auth"))}
    report_keys(HTTP_OPTIONS, config, f"{where}.config", report)
    name = single_line(str(label)) if label else ""
    return ConnectorDraft(name[:_MAX_NAME_LENGTH].rstrip() or urlsplit(url).hostname or "agent", url, settings, headers)


def _url(url: Any, parameters: Any) -> str:
    if not isinstance(url, str) or not url.startswith(_SCHEMES):
        raise NotImportable("its url is not an address that starts with https:// or http://")
    if "{{" in url:
        raise NotImportable("its url has variables, and the address of a connector is fixed")
    if error := url_error(url):
        raise NotImportable(f"its url {error}")
    query = _query(parameters) if isinstance(parameters, Mapping) else ""
    return f"{url}{'&' if '?' in url else '?'}{query}" if query else url


def _split_query(url: str) -> tuple[str, str]:
    """Return the address of a connector, and its `path`, which has the query: a base URL must not have one."""
    parts = urlsplit(url)
    if not parts.query:
        return url.rstrip("?"), ""
    return f"{parts.scheme}://{parts.netloc}", f"{parts.path or '/'}?{parts.query}"


def _query(parameters: Mapping[Any, Any]) -> str:
    for name, value in parameters.items():
        if "{{" in str(value):
            raise NotImportable(f"its queryParams.{name} has variables, and the address of a connector is fixed")
        if _SECRET_PARAMETER.search(str(name)):
            raise NotImportable(f"its queryParams.{name} may be a secret, and the address of a connector is shown")
    return urlencode({str(name): str(value) for name, value in parameters.items()})


def _method(config: Mapping[str, Any]) -> str:
    method = str(config.get("method") or ("POST" if config.get("body") else "GET")).upper()
    if method not in _METHODS:
        raise NotImportable(f"a connector sends {', '.join(_METHODS)}, not {method}")
    return method


def _request(body: Any) -> str:
    """Return the body as an expression: a template's `{{prompt}}` is the user's last message."""
    if isinstance(body, str):
        try:
            body = from_json(_UNQUOTED.sub(r'"\1"', body), "body")
        except InvalidDocument:
            raise NotImportable("its body is not JSON, which connectors send") from None
    if not body:
        raise NotImportable("it has no body, and a connector sends the user's message in one")
    return _expression(body)


def _expression(value: Any) -> str:
    match value:
        case dict() if value:
            return "{" + ", ".join(f"{json.dumps(key)}: {_expression(part)}" for key, part in value.items()) + "}"
        case list() if value:
            return f"[{', '.join(map(_expression, value))}]"
        case str():
            return _text_expression(value)
    return _literal(value)


def _literal(value: Any) -> str:
    return f"`{json.dumps(value).replace('`', '\\`')}`"


def _text_expression(text: str) -> str:
    split = [part for part in _PLACEHOLDER.split(text) if part]
    is_value = len(split) == 1
    parts = [_literal_or_variable(part, is_value=is_value) for part in split] or [_EMPTY]
    return parts[0] if len(parts) == 1 else f"join({_EMPTY}, [{', '.join(parts)}])"


def _literal_or_variable(part: str, *, is_value: bool) -> str:
    if not _PLACEHOLDER.fullmatch(part):
        if "{{" in part or "{%" in part:
            raise NotImportable(f"its body has a template that is not rendered: {part[:60]}")
        return _literal(part)
    path, *filters = [each.strip() for each in part.strip("{} ").split("|")]
    if path in _VARIABLES:
        return _VARIABLES[path]
    if path.startswith(_ENVIRONMENT_NAME):
        raise NotImportable(f"its body has the environment variable {path}; a secret belongs into a header")
    variable = f"vars.{path}"
    return variable if is_value and "dump" in filters else f"to_string(not_null({variable}, {_EMPTY}))"


def _reply(parser: Any) -> str:
    if parser is None:
        return "@"
    if not isinstance(parser, str):
        raise NotImportable("its transformResponse is code, which is not executed")
    text = parser.strip().removesuffix(";").rstrip()
    root = "json"
    if match := _ARROW.match(text):
        root, text = match[1], text[match.end() :].strip()
    parts = [_reply_part(part.strip(), root) for part in _ALTERNATIVES.split(text)]
    if None in parts:
        raise NotImportable(f"its transformResponse is code, which is not executed, and not a path: {text[:60]}")
    return " || ".join(filter(None, parts))


def _reply_part(text: str, root: str) -> str | None:
    if text in (root, "text"):
        return "@"
    if match := _TEXT.fullmatch(text):
        return _literal(match[1] or match[2] or "")
    for start in (root, "JSON.parse(text)"):
        if text.startswith(start) and (path := _path(text.removeprefix(start))):
            return path
    return None


def _conversation_id(parser: Any) -> dict[str, str]:
    if parser is None:
        return {}
    start = "data.body"
    if isinstance(parser, str) and parser.startswith(start) and (path := _path(parser.removeprefix(start))):
        return {"conversationId": path}
    raise NotImportable("its sessionParser is not a path of the response's body, such as data.body.sessionId")


def _path(text: str) -> str | None:
    path, position = "", 0
    while match := _PATH.match(text, position):
        position = match.end()
        name, index, *quoted = match.groups()
        key = name or next(filter(None, quoted), None)
        path += f"[{index}]" if index else f"{'.' if path else ''}{_key(str(key))}"
    return path if path and position == len(text) else None


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z_]\w*", name) else json.dumps(name)


def _headers(headers: Any) -> dict[str, str]:
    given = headers if isinstance(headers, Mapping) else {}
    return {
        str(name): _header_value(str(name), value)
        for name, value in given.items()
        if str(name).lower() not in _CONNECTION_HEADERS
    }


def _authorization(auth: Any) -> dict[str, str]:
    """Return the header of a token or key. Raises NotImportable if more than a header is needed."""
    if not isinstance(auth, Mapping):
        return {}
    match auth.get("type"):
        case "bearer":
            return {"Authorization": _header_value("Authorization", f"Bearer {auth.get('token')}")}
        case "basic":
            return {"Authorization": "${AUTHORIZATION}"}
        case "api_key" if auth.get("placement") == "header":
            name = str(auth.get("keyName"))
            return {name: _header_value(name, auth.get("value"))}
    raise NotImportable(f"its auth is {auth.get('type')}; a connector sends headers that are set once")


def _header_value(name: str, value: Any) -> str:
    text = _ENVIRONMENT.sub(lambda match: f"${{{match[1] or match[2]}}}", str(value))
    return text if _ONLY_VARIABLES.fullmatch(text) else f"${{{re.sub(r'\W', '_', name).upper()}}}"


def with_raw_request(config: Mapping[str, Any], *, is_https: bool, files: FileSource) -> Mapping[str, Any]:
    """Return the options with those of the raw request. Raises NotImportable if it cannot be read."""
    request = config.get("request")
    if request is None:
        return config
    if not isinstance(request, str):
        raise NotImportable("its request is not a text")
    if request.startswith(SCHEME):
        request = read_file(files, request)
    others = {name: value for name, value in config.items() if name not in ("request", "useHttps")}
    return {**others, **_read_raw(request, "https" if is_https or config.get("useHttps") is True else "http")}


def _read_raw(request: str, scheme: str) -> dict[str, Any]:
    head, _, body = request.replace("\r\n", "\n").strip().partition("\n\n")
    first, *lines = [line.strip() for line in head.split("\n")]
    match = _FIRST_LINE.fullmatch(first)
    if match is None:
        raise NotImportable(f"its request does not begin with a line such as POST /chat HTTP/1.1: {first[:60]}")
    headers = dict(_raw_header(line) for line in lines)
    host = next((value for name, value in headers.items() if name.lower() == "host"), None)
    if host is None:
        raise NotImportable("its request has no header Host")
    return {"url": f"{scheme}://{host}{match[2]}", "method": match[1], "headers": headers, "body": body.strip()}


def _raw_header(line: str) -> tuple[str, str]:
    name, colon, value = line.partition(":")
    if not colon:
        raise NotImportable(f"its request has a header without a colon: {line[:60]}")
    return name.strip(), value.strip()
