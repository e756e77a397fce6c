"""Every route is loaded by whoever asks for it."""

from importlib import import_module
from pathlib import Path

from api import routing
from tests.conftest import ROOT

FOLDER = Path(ROOT / "functions" / "api")


def routed() -> dict[str, set[str]]:
    """The first words of the paths of each module that has routes."""
    modules = {path.stem: import_module(f"api.{path.stem}") for path in FOLDER.glob("*.py")}
    with_routes = {name: module.router for name, module in modules.items() if hasattr(module, "router")}
    return {name: {key[0].split("/")[1] for key in router._routes} for name, router in with_routes.items()}


def test_a_part_loads_every_module_that_answers_it() -> None:
    loaded = {name: {part for part, names in routing.MODULES.items() if name in names} for name in routed()}
    assert loaded == routed()
