"""Asks a server of the user's own for its models.

The command sends the request itself, and may reach other networks than the stack does, so neither an answer nor a
failure is conclusive.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from time import monotonic
from typing import NamedTuple

from cupel.environment import read_variable
from cupel.json_types import Json
from cupel.terminal import one_line
from cupel_core.domain.text.near_names import near_name

SET_TIMEOUT_SECONDS = 5.0
START_TIMEOUT_SECONDS = 2.0
"""A start waits no longer for a server that only the stack can reach."""
MAX_BYTES = 4_000_000
MAX_SHOWN = 50
_MAX_NAME_LENGTH = 200


class Server(NamedTuple):
    address: str
    api_key: str | None = None


class NoList(Exception):
    """The server gave no list of its models; the text says why."""


def list_models(server: Server, timeout_seconds: float) -> list[str]:
    import httpx  # It takes longer to import than the rest of the command.

    base, mark, query = server.address.partition("?")
    headers = {"Authorization": f"Bearer {server.api_key}"} if server.api_key else {}
    content, ends_at = bytearray(), monotonic() + timeout_seconds
    try:
        with (
            httpx.Client(timeout=timeout_seconds, headers=headers, trust_env=not _is_local(base)) as http,
            http.stream("GET", f"{base.rstrip('/')}/models{mark}{query}") as response,
        ):
            if response.status_code != httpx.codes.OK:
                raise NoList(f"HTTP {response.status_code}")
            for part in response.iter_bytes():
                content += part
                if len(content) > MAX_BYTES:
                    raise NoList(f"its answer has more than {MAX_BYTES:,} bytes")
                if monotonic() > ends_at:  # The timeouts of the client apply to each part.
                    raise NoList(f"its answer takes more than {timeout_seconds:g} s")
    except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
        raise NoList(str(error) or type(error).__name__) from None
    return _ids(bytes(content))


def _ids(content: bytes) -> list[str]:
    import orjson

    try:
        listed = orjson.loads(content)
    except ValueError:
        raise NoList("its answer is no JSON") from None
    items = listed.get("data") if isinstance(listed, dict) else listed
    ids = [item.get("id") for item in items if isinstance(item, dict)] if isinstance(items, list) else []
    names = [one_line(each)[:_MAX_NAME_LENGTH] for each in ids if isinstance(each, str) and each]
    if not names:
        raise NoList("its answer lists none")
    return list(dict.fromkeys(names))


def _is_local(address: str) -> bool:
    import httpx

    return httpx.URL(address).host in ("127.0.0.1", "::1", "localhost")


def model_list_text(provider: str, names: Sequence[str]) -> str:
    shown = ", ".join(f"{provider}/{name}" for name in islice(names, MAX_SHOWN))
    more = f" and {len(names) - MAX_SHOWN:,} more" if len(names) > MAX_SHOWN else ""
    return f"{provider} lists {len(names):,} {'model' if len(names) == 1 else 'models'}: {shown}{more}"


def own_server_models(models: Iterable[str | None]) -> dict[str, list[str]]:
    from cupel_core.providers import is_own_server  # The providers take longer to import than the rest.

    found: dict[str, list[str]] = {}
    for model in dict.fromkeys(filter(None, models)):
        provider = model.partition("/")[0]
        if is_own_server(provider):
            found.setdefault(provider, []).append(model)
    return found


def servers_of_stack(providers: Iterable[Json]) -> dict[str, Server]:
    """Return the servers by provider, without those that need a key: the stack does not return keys."""
    return {each["name"]: Server(each["baseUrl"]) for each in providers if each["baseUrl"] and not each["hasKey"]}


def servers_of_environment(names: Iterable[str]) -> dict[str, Server]:
    variables = {name: name.upper().replace("-", "_") for name in names}
    return {
        name: Server(address, read_variable(f"{variable}_API_KEY"))
        for name, variable in variables.items()
        if (address := read_variable(f"{variable}_BASE_URL"))
    }


def unlisted_notes(models: Mapping[str, Sequence[str]], servers: Mapping[str, Server]) -> Iterator[str]:
    """Say which models their servers do not list. A server that gives no list has no note."""
    for provider, own in models.items():
        if (server := servers.get(provider)) is None:
            continue
        try:
            listed = list_models(server, START_TIMEOUT_SECONDS)
        except NoList:
            continue
        yield from filter(None, (_unlisted_note(model, listed, server.address) for model in own))


def _unlisted_note(model: str, listed: Sequence[str], address: str) -> str | None:
    """Return the note. Ollama lists `llama3.2:latest` and answers to `llama3.2`; `*` of a gateway matches any model."""
    from cupel_core.providers import model_name_of

    name = model_name_of(model)
    if "*" in listed or {name, f"{name}:latest"} & set(listed):
        return None
    near = near_name(name, list(listed))
    hint = f"did you mean {model.partition('/')[0]}/{near}?" if near else f"it lists {', '.join(islice(listed, 5))}"
    return f"note: {address} does not list {name}; {hint}"
