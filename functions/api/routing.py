"""The parts of the API by the first word of their paths. A part is loaded with the first request for it.

A cold start answers one request; all routes with their models would take a third of it.
"""

from importlib import import_module

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver

PREFIX = "/v1"
MODULES = {
    "health": ("health",),
    "openapi.json": ("openapi",),
    "definitions": ("definitions", "scenarios"),
    "imports": ("imports",),
    "personas": ("personas",),
    "connectors": ("connectors",),
    "evals": ("evals", "eval_runs"),
    "settings": ("evaluation_settings",),
    "runs": ("runs", "control", "events", "transcripts", "rescores"),
    "playground": ("eval_runs",),
    "probes": ("probes",),
    "transcripts": ("transcripts",),
    "judge": ("judge",),
    "models": ("providers",),
    "providers": ("providers",),
    "schedules": ("schedules",),
    "queue": ("queue",),
    "tokens": ("tokens",),
}
_loaded: set[tuple[APIGatewayHttpResolver, str]] = set()


def load(app: APIGatewayHttpResolver, path: str) -> None:
    """What may answer a request to this path; nothing where nobody does."""
    part = path.removeprefix(f"{PREFIX}/").partition("/")[0]
    for name in MODULES.get(part, ()):
        _include(app, name)


def load_all(app: APIGatewayHttpResolver) -> None:
    for names in MODULES.values():
        for name in names:
            _include(app, name)


def _include(app: APIGatewayHttpResolver, name: str) -> None:
    if (app, name) not in _loaded:
        app.include_router(import_module(f"api.routes.{name}").router, prefix=PREFIX)
        _loaded.add((app, name))
