"""An operation is a function of a capability with a declaration, from which every interface is derived.

```python
@operation("POST /v1/runs/{run_id}/pause", "Pause a run", role=MEMBER, returns="The run")
def pause_run(call: Call, run_id: str) -> RunResponse:
    \"\"\"No further model call starts; calls in flight are recorded.\"\"\"
```

The function's name is the operation's id, its parameters are those of the request, its return type is the response,
and its docstring is the description. Nothing here knows an interface.
"""

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum, auto
from functools import cached_property
from time import monotonic
from types import MappingProxyType, ModuleType, UnionType
from typing import Any, NamedTuple, Union, get_args, get_origin, get_type_hints

from cupel_core.base.paging import Entry, Page
from cupel_core.base.preconditions import UNCONDITIONAL, Precondition
from cupel_core.contract.routes import Route
from cupel_core.domain.access import AccessRole, Caller

PUBLIC = None
"""The role of operations that need no token."""
VIEWER, MEMBER, ADMIN, OPERATOR = AccessRole.VIEWER, AccessRole.MEMBER, AccessRole.ADMIN, AccessRole.OPERATOR
_SECONDS_TO_COUNT = 12.0
"""A request has 29 seconds; it may count outcomes for this long."""
_LINE_BREAK = re.compile(r"(?<!\n)\n(?!\n)")
"""A line break within a paragraph of a docstring."""
_WORDS = {"openai": "OpenAI"}
_SUCCESS, _NO_CONTENT = 200, 204


class Replay(StrEnum):
    """Says how a request that is repeated with its Idempotency-Key is answered."""

    STARTED = auto()
    """The run or rescore as it was started: stored in the same transaction as the run itself."""
    CREATED = auto()
    """The status of the first response, and what is at the operation's `location` now."""
    RESPONSE = auto()
    """The first response."""
    REFUSAL = auto()
    """409, because the first response had a secret, which is not stored."""


class ToolGroup(StrEnum):
    """Selects tools of MCP: `?tools=` names groups."""

    READ = auto()
    AUTHORING = auto()
    RUNS = auto()
    ANALYSIS = auto()
    ADMIN = auto()


@dataclass(frozen=True)
class AsTool:
    """It declares that MCP lists an operation as a tool of its own; all others are called with `call_operation`."""

    group: ToolGroup
    result: str = ""
    """The fields of the response, or of an item of a list, that the tool returns: names and dotted paths, separated by
    spaces. Without any, the whole response is returned."""
    name: str | None = None
    """The name of the tool, if a published name is not that of the function."""
    is_default: bool = False
    """If true, the tool is listed unless the address selects groups."""
    advice: str = ""
    """Sentences for models, which follow the description of the operation."""
    max_kb: int = 4
    """A longer result is cut."""
    destroys: bool = False
    """If true, a POST request loses what was there before."""
    calls_models: bool = False
    """If true, the operation calls models, or makes workers do so."""
    has_untrusted_texts: bool = False
    """If true, the result can have texts of models, agents or providers, and says so."""


@dataclass(frozen=True, eq=False)
class Operation(Route):
    """A function of a capability that every interface calls, and all that its interfaces say of it."""

    function: Callable[..., Any]
    summary: str
    returns: str
    """Describes what a successful response contains."""
    tag: str
    status: int
    also: Mapping[int, str]
    """Describes the other successful responses, by status."""
    texts: tuple[str, ...]
    """The media types of responses that are no JSON."""
    location: str | None
    """Path of what it creates; `{names}` are its own path parameters, or fields of the response such as `run.id`."""
    replay: Replay | None
    """None for an operation that takes no Idempotency-Key: it creates nothing, or repeating it changes nothing."""
    is_repeatable: bool
    """If true, a client may repeat the request without an Idempotency-Key: it changes nothing, or the same again."""
    if_match: bool
    """If true, the request may name the state that its change is based on."""
    calls_others: bool
    """If true, the operation waits for a server of others, such as a model's, and counts as a request that waits."""
    tool: AsTool | None
    """None for an operation that MCP does not list."""

    @property
    def changes_nothing(self) -> bool:
        """Return whether the operation only reads or computes: what viewers may do changes nothing."""
        return self.is_read or self.minimum_role is AccessRole.VIEWER

    @property
    def tool_name(self) -> str:
        """The name of the operation's tool."""
        return (self.tool.name if self.tool else None) or self.function.__name__

    @property
    def description(self) -> str | None:
        """The function's docstring, with a line per paragraph."""
        text = inspect.getdoc(self.function)
        return _LINE_BREAK.sub(" ", text) if text else None

    @cached_property
    def types(self) -> dict[str, Any]:
        """The annotations of the function's parameters by name, and of its result as `return`."""
        return get_type_hints(self.function, include_extras=True)

    @cached_property
    def arguments(self) -> list[inspect.Parameter]:
        """The parameters of the request: all of the function's but the call."""
        _, *others = inspect.signature(self.function).parameters.values()
        return [each.replace(annotation=self.types[each.name]) for each in others]

    @property
    def body(self) -> type[Any] | None:
        """The model of the request's body; None without one."""
        return self.types.get("body")

    @property
    def response(self) -> Any:
        """The model of the response, or of a page of a list; None without a body. The first one of several."""
        kind = self.types["return"]
        if get_origin(kind) in (Union, UnionType):
            kind = get_args(kind)[0]
        while get_origin(kind) in _WRAPPERS:
            (kind,) = get_args(kind)
        return None if kind is type(None) else kind

    @property
    def is_list(self) -> bool:
        """Return whether the operation returns a page of items."""
        return get_origin(self.types["return"]) is Listed


class HttpRequest(NamedTuple):
    """The parts of a call that only requests over HTTP have."""

    headers: Mapping[str, str]
    """The names are in lower case."""
    body: Callable[[], bytes]
    """Returns the body as it was sent."""
    page_url: Callable[[], str]
    """Returns the address of the web page, which is that of the API."""

    def knows(self, tag: str) -> bool:
        """Return whether the sender has the body with this `ETag` already."""
        return tag in (each.strip() for each in self.headers.get("if-none-match", "").split(","))


@contextmanager
def _waiting_freely(_: float) -> Iterator[bool]:
    yield True


@dataclass(frozen=True)
class Call:
    """Who calls an operation, when, and what must not have changed since the caller read it."""

    caller: Caller
    now: datetime
    precondition: Precondition = UNCONDITIONAL
    idempotency_key: str | None = None
    http: HttpRequest = field(default=HttpRequest(MappingProxyType({}), bytes, str))
    may_wait: Callable[[float], AbstractContextManager[bool]] = _waiting_freely
    """Enters a block in which the request waits for up to these seconds; yields whether it may."""
    selects_fields: bool = False
    """True if the caller reads what takes another request only for fields that are selected, as GraphQL does."""

    @property
    def workspace(self) -> str:
        return self.caller.workspace

    def knows(self, tag: str) -> bool:
        """Return whether the sender of a GET has the body with this `ETag` already, so that nobody need make it."""
        return self.http.knows(tag)


class Tagged[M](NamedTuple):
    """A response with the entity tag of what can be changed, for the `If-Match` of a change.

    The rest of the body may differ from what had this tag, as a run's progress does.
    """

    body: M
    tag: str


class Revalidated[M](NamedTuple):
    """A response with the entity tag of its whole body: whoever has it already is answered 304."""

    body: M
    tag: str
    is_kept: bool = False
    """If true, a browser keeps the body, and asks each time whether it is still the same."""


class Listed[P](NamedTuple):
    """Part of a list, each entry of which becomes an item of a page. `P` is the model of the page."""

    source: Page[Any] | Iterable[Entry[Any]]
    """A page, or entries that are read lazily, of which as many become a page as the request asks for."""
    render: Callable[[Any], Any]

    def entries(self) -> Iterable[Entry[Any]]:
        """The entries that have a cursor each."""
        return self.source.entries() if isinstance(self.source, Page) else self.source


class Ranged[P](NamedTuple):
    """Part of a list that is read from any index on: the cursors of its entries are indexes."""

    entries: Iterable[Entry[Any]]
    limit: int
    render: Callable[[Any], Any]


class Answered[M](NamedTuple):
    """A response whose status depends on what the operation found."""

    body: M
    status: int
    location: str | None = None
    headers: Mapping[str, str] = MappingProxyType({})


class Text(NamedTuple):
    """A response that is no JSON."""

    media_type: str
    text: str
    headers: Mapping[str, str] = MappingProxyType({})


class Rendered[M](NamedTuple):
    """A response that is JSON already."""

    json: bytes


_WRAPPERS = (Tagged, Revalidated, Listed, Ranged, Answered, Rendered)


def operation[F: Callable[..., Any]](
    route: str,
    summary: str,
    *,
    role: AccessRole | None,
    returns: str,
    tag: str | None = None,
    status: int | None = None,
    also: Mapping[int, str] = MappingProxyType({}),
    texts: tuple[str, ...] = (),
    location: str | None = None,
    replay: Replay | None = None,
    is_repeatable: bool = False,
    if_match: bool = False,
    calls_others: bool = False,
    is_for_labellers: bool = False,
    tool: AsTool | None = None,
) -> Callable[[F], F]:
    """Declare the decorated function as the operation of this method and path.

    The tag is the first word of the path unless it is given; the status is 200, or 204 for a function that returns
    nothing.
    """
    method, _, path = route.partition(" ")

    def declare(function: F) -> F:
        returns_nothing = function.__annotations__.get("return", inspect.Parameter.empty) is None
        declared = Operation(
            operation_id(function.__name__),
            method,
            path,
            role,
            function.__module__.removeprefix("cupel_core."),
            function,
            summary,
            returns,
            tag or _tag_of(path),
            status or (_NO_CONTENT if returns_nothing else _SUCCESS),
            also,
            texts,
            location,
            replay,
            is_repeatable,
            if_match,
            calls_others,
            tool,
            is_for_labellers=is_for_labellers,
        )
        function.operation = declared  # type: ignore[attr-defined]
        return function

    return declare


def _tag_of(path: str) -> str:
    _, first, second, *_ = path.split("/")
    return second if first == "v1" else first


def operation_id(function_name: str) -> str:
    """Return `pauseRun` for `pause_run`."""
    first, *others = function_name.split("_")
    return first + "".join(_WORDS.get(each, each.capitalize()) for each in others)


def operations_of(module: ModuleType) -> list[Operation]:
    """The operations that a module declares, in the order of its functions."""
    functions = (each for each in vars(module).values() if getattr(each, "__module__", None) == module.__name__)
    return [each.operation for each in functions if isinstance(getattr(each, "operation", None), Operation)]


def counting_time(seconds: float = _SECONDS_TO_COUNT) -> Callable[[], bool]:
    """Return a function that says whether the request may still count outcomes."""
    until = monotonic() + seconds
    return lambda: monotonic() < until
