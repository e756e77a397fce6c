"""The models that a workspace's own servers offer, which a process remembers for a minute."""

import asyncio
from time import monotonic

from cupel_core.accounts.keys import list_providers, load_account
from cupel_core.base import event_loop
from cupel_core.domain.resources.providers import ProviderView
from cupel_core.providers import is_own_server
from cupel_core.providers.served_models import ServedModels, fetch_models

_SECONDS, _SECONDS_OF_A_PROBLEM = 60.0, 10.0
_MAX_CACHED = 256
type _ServerKey = tuple[str, str, int]
_cached: dict[_ServerKey, tuple[float, ServedModels]] = {}


def list_served_models(workspace: str) -> tuple[ServedModels, ...]:
    """Ask each enabled server of the workspace, all at once. A server that does not answer has a problem."""
    servers = [view for view in list_providers(workspace) if is_own_server(view.name) and view.usable]
    now = monotonic()
    known = {view.name: found for view in servers if (found := _find(_key(workspace, view), now))}
    asked = [view for view in servers if view.name not in known]

    async def ask(view: ProviderView) -> ServedModels:
        return await fetch_models(await asyncio.to_thread(load_account, workspace, view.name))

    async def ask_all() -> list[ServedModels]:
        return await asyncio.gather(*map(ask, asked))

    for view, found in zip(asked, event_loop.run(ask_all()) if asked else (), strict=True):
        _store(_key(workspace, view), found, now)
        known[view.name] = found
    return tuple(known[view.name] for view in servers)


def forget() -> None:
    _cached.clear()


def _key(workspace: str, view: ProviderView) -> _ServerKey:
    """Return a key that changes with the settings of the server."""
    return workspace, view.name, view.revision


def _find(key: _ServerKey, now: float) -> ServedModels | None:
    until, found = _cached.get(key, (0.0, None))
    return found if now < until else None


def _store(key: _ServerKey, found: ServedModels, now: float) -> None:
    while len(_cached) >= _MAX_CACHED:
        del _cached[next(iter(_cached))]
    _cached[key] = now + (_SECONDS_OF_A_PROBLEM if found.problem else _SECONDS), found
