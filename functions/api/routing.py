"""Routers by words of the path, loaded with the first request for one of their paths.

A cold start answers a single request; loading all routes and their models would take a third of it.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from http import HTTPStatus
from importlib import import_module
from typing import Any, get_args
from urllib.parse import parse_qs

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver
from aws_lambda_powertools.event_handler.openapi.params import Query
from aws_lambda_powertools.event_handler.openapi.types import OpenAPIResponse
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from aws_lambda_powertools.utilities.typing import LambdaContext

from api.idempotency import idempotency_key
from api.rendering import documented, rendering, response_type
from cupel_core.base.errors import FieldError, Invalid
from cupel_core.domain.access import Caller
from cupel_core.interfaces.gateway.caller import caller
from cupel_core.interfaces.gateway.requests import host_of
from cupel_core.interfaces.operations import OPERATIONS, Operation

PREFIX = "/v1"
OPENAI_PREFIX = "/openai/v1"
_CONTROLS = ("pause", "resume", "cancel", "retry", "expand", "budget")
MODULES = {
    **dict.fromkeys(
        ("health", "imports", "files", "personas", "connectors", "definitions", "evals", "runs", "transcripts")
    ),
    **dict.fromkeys(("probes", "judge", "providers", "schedules", "queue", "tokens", "workspaces", "audit", "webhook")),
    **dict.fromkeys(("budgets", "comparisons", "decisions", "experiments", "jobs", "profiles", "chats")),
    **dict.fromkeys(("chats/branches", "chats/messages"), "chat_branches"),
    "chats/turns": "chat_turns",
    "openapi.json": "openapi",
    **dict.fromkeys(("POST runs", "POST runs/estimate", "runs/rerun"), "run_starts"),
    "scale-runs": "scale_runs",
    "definitions/scenarios": "scenarios",
    "evals/runs": "eval_runs",
    "playground": "eval_runs",
    "settings": "evaluation_settings",
    "models": "providers",
    **dict.fromkeys(
        (f"runs/{change}" for change in ("pause", "resume", "cancel", "retry", "expand", "budget")), "control"
    ),
    **dict.fromkeys(("login-codes", "session"), "sessions"),
    **dict.fromkeys(("runs/events", "runs/event-tickets"), "events"),
    "runs/transcripts": "transcripts",
    **dict.fromkeys(("runs/report", "runs/reports"), "reports"),
    **dict.fromkeys(("runs/analysis", "runs/results"), "analysis"),
    **dict.fromkeys(
        ("runs/probe-columns", "runs/probe-excerpts", "runs/probe-matches", "runs/case-names"), "run_tables"
    ),
    **dict.fromkeys(("runs/rescores", "runs/scores", "runs/grader-agreement"), "rescores"),
}
"""The module of a path, by its method and itself, by its first and third word, or by the first, after which it is named
if None."""
OPENAI_MODULES = {
    "evals": "openai_evals",
    "files": "openai_files",
    "uploads": "openai_files",
    "models": "openai_models",
    "fine_tuning": "openai_graders",
}
"""The modules of paths below `/openai/v1`, by their first word."""
_NOT_MODIFIED = {"statusCode": HTTPStatus.NOT_MODIFIED.value, "body": "", "isBase64Encoded": False}
_loaded: set[tuple[APIGatewayHttpResolver, str]] = set()
_response_tag: ContextVar[str | None] = ContextVar("response_tag", default=None)
_is_whole_body_tagged: ContextVar[bool] = ContextVar("is_whole_body_tagged", default=False)
_query_parameters: dict[str, tuple[str, ...]] = {}


class OperationRouter(APIGatewayHttpRouter):
    """Registers routes for declared operations only: the declaration gives the method, the path and the texts."""

    prefix = PREFIX
    operations: Mapping[str, Operation] = OPERATIONS

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]

    def operation[F: Callable[..., Any]](
        self, operation_id: str, *, status: int = 200, responses: dict[int, OpenAPIResponse] | None = None
    ) -> Callable[[F], F]:
        """Registers the decorated function for the operation. KeyError if the operation is not declared."""
        declared = self.operations[operation_id]

        def register(function: F) -> F:
            _query_parameters[operation_id] = tuple(_query_names(function))
            add_route = self.route(
                declared.path.removeprefix(self.prefix).replace("{", "<").replace("}", ">"),
                method=declared.method,
                operation_id=declared.id,
                summary=declared.summary,
                description=declared.description or f"{declared.summary}.",
                tags=[declared.tag],
                status_code=status,
                responses=responses or documented(status, declared.response, response_type(function)),
            )
            add_route(rendering(function, status))
            return function

        return register

    def tagged[M](self, body: M, tag: str) -> M:
        """The body of a response whose `ETag` is `tag`: of what can be changed, for the `If-Match` of a change.

        The rest of the body may differ from what had this tag, as a run's progress does.
        """
        _response_tag.set(tag)
        return body

    def revalidated[M](self, body: M, tag: str) -> M:
        """The body of a response whose `ETag` is that of the whole body: whoever has it already is answered 304."""
        _is_whole_body_tagged.set(True)
        return self.tagged(body, tag)

    def is_known(self, tag: str) -> bool:
        """Whether the sender of the current GET has the body with this `ETag` already, so that nobody need make it."""
        return _has_tag(self.current_event.raw_event, tag)

    def query_values(self, name: str) -> list[str]:
        """The values of a repeatable parameter as they were sent; a handler's argument has them split at commas."""
        raw = str(self.current_event.raw_event["rawQueryString"])
        return parse_qs(raw, keep_blank_values=True).get(name, [])

    @property
    def caller(self) -> Caller:
        """Who sent the current request."""
        return caller(self.current_event)

    @property
    def idempotency_key(self) -> str | None:
        """The Idempotency-Key of the current request."""
        return idempotency_key(self.current_event)

    @property
    def workspace(self) -> str:
        """The workspace that the current request belongs to."""
        return caller(self.current_event).workspace


class OpenAIRouter(OperationRouter):
    """Routes with the contract of OpenAI."""

    prefix = OPENAI_PREFIX

    def __init__(self) -> None:
        from cupel_core.interfaces.openai_operations import OPENAI_OPERATIONS  # few requests need them

        self.operations = OPENAI_OPERATIONS
        super().__init__()

    @property
    def page_url(self) -> str:
        """The address of the web page, which is the API's."""
        event = self.current_event
        host, context = host_of(event.headers), event.raw_event["requestContext"]
        if context.get("domainName", "").endswith(".localhost"):
            # The embedded cloud serves every API below a path of its own, which the function is not told.
            return f"http://{host}/_aws/execute-api/{context['apiId']}/{context['stage']}"
        return f"{event.headers.get('x-forwarded-proto', 'https')}://{host}"


def resolve(app: APIGatewayHttpResolver, event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """The response of the operation's route, with its `ETag` if it has one."""
    _response_tag.set(None)
    _is_whole_body_tagged.set(False)
    response = app.resolve(event, context)
    tag = _response_tag.get()
    if tag is None or response["statusCode"] >= HTTPStatus.MULTIPLE_CHOICES:
        return response
    response = {**response, "headers": {**response["headers"], "ETag": tag}}
    return response | _NOT_MODIFIED if _is_whole_body_tagged.get() and _has_tag(event, tag) else response


def _has_tag(event: dict[str, Any], tag: str) -> bool:
    """Whether a GET names the tag of what its sender has already."""
    is_get = event["requestContext"]["http"]["method"] == "GET"
    return is_get and tag in (each.strip() for each in event.get("headers", {}).get("if-none-match", "").split(","))


def load(app: APIGatewayHttpResolver, path: str, method: str) -> None:
    """Loads the router that may serve such a request; none if no router does."""
    if (name := module_of(path, method)) is not None:
        _include(app, name)


def module_of(path: str, method: str) -> str | None:
    """The name of the module with the route of this path and method; None if there is none."""
    if path.startswith(f"{OPENAI_PREFIX}/"):
        return OPENAI_MODULES.get(path.removeprefix(f"{OPENAI_PREFIX}/").partition("/")[0])
    below = path.removeprefix(f"{PREFIX}/")
    first, _, rest = below.partition("/")
    words = f"{first}/{rest.partition('/')[2].partition('/')[0]}"
    key = next((key for key in (f"{method} {below}", words, first) if key in MODULES), None)
    return key and (MODULES[key] or key)


def known_query_parameters() -> dict[str, tuple[str, ...]]:
    """By operation id, for those whose routes are loaded."""
    return dict(_query_parameters)


def check_query(operation_id: str, sent: Iterable[str]) -> None:
    """Raise Invalid, naming every sent query parameter that a loaded operation does not have."""
    known = _query_parameters[operation_id]
    accepted = f"it accepts {', '.join(known)}" if known else "it accepts none"
    errors = [
        FieldError(name, f"is not a query parameter of {operation_id}; {accepted}")
        for name in sent
        if name not in known
    ]
    if errors:
        raise Invalid.fields(errors)


def load_all(app: APIGatewayHttpResolver) -> None:
    for key, name in MODULES.items():
        _include(app, name or key)


def _query_names(function: Callable[..., Any]) -> Iterable[str]:
    for name, parameter in inspect.signature(function).parameters.items():
        for note in get_args(parameter.annotation):
            if isinstance(note, Query):
                yield note.alias or name


def _include(app: APIGatewayHttpResolver, name: str) -> None:
    if (app, name) not in _loaded:
        router = import_module(f"api.routes.{name}").router
        app.include_router(router, prefix=router.prefix)
        _loaded.add((app, name))
