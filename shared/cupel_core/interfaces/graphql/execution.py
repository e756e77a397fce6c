"""Carries out a GraphQL request: checks it, executes it within a time, and returns errors as the API's problems."""

import asyncio
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import orjson
from graphql import (
    DocumentNode,
    ExecutionResult,
    FieldNode,
    GraphQLEnumType,
    GraphQLError,
    OperationDefinitionNode,
    OperationType,
    TypeInfo,
    TypeInfoVisitor,
    Visitor,
    execute,
    parse,
    specified_rules,
    validate,
    visit,
)
from graphql.execution.values import get_variable_values
from pydantic import Field

from cupel_core.base import event_loop
from cupel_core.base.errors import AppError, ClientError, RetryableError, TooLarge, public_detail
from cupel_core.contract.common import RequestModel
from cupel_core.interfaces.gateway.problems import document
from cupel_core.interfaces.graphql.declared_types import declare_expected_types
from cupel_core.interfaces.graphql.limits import TooComplex, check_operation, check_text
from cupel_core.interfaces.graphql.request import Request
from cupel_core.interfaces.graphql.schema import schema
from cupel_core.store.unexpected_errors import from_unexpected

MAX_SECONDS = 25.0
"""API Gateway waits for 30 s."""
MAX_RESPONSE_BYTES = 5_000_000
"""Limits a response in the encoding that Lambda sends; Lambda's own limit is 6 MB."""
_MAX_ERRORS = 20
_OF_ENUM = re.compile(r"\bin '(\w+)' enum\.|\bEnum '(\w+)' cannot represent ")


class GraphqlRequest(RequestModel):
    query: str | None = None
    variables: dict[str, Any] | None = None
    operation_name: str | None = None
    extensions: dict[str, Any] | None = Field(default=None)


class InvalidQuery(ClientError):
    title = "Invalid query"


class QueryAnswer(NamedTuple):
    status: int
    body: bytes


def answer(body: GraphqlRequest, request: Request) -> QueryAnswer:
    """Return 400 for a request that was not executed, and otherwise 200, with the errors of single fields beside the
    data."""
    try:
        if "persistedQuery" in (body.extensions or {}):
            raise _PersistedQueryNotSupported("PersistedQueryNotSupported")
        if not body.query:
            raise InvalidQuery("`query` is required")
        result = event_loop.run(_execute(body, request))
    except (GraphQLError, AppError) as error:
        return _refused([error], request)
    except _InvalidQueries as invalid:
        return _refused(invalid.errors, request)
    errors = [_formatted(error, request) for error in (result.errors or ())[:_MAX_ERRORS]]
    content = {"data": result.data} | ({"errors": errors} if errors else {}) | _named_cuts(request)
    encoded = orjson.dumps(content)
    if _payload_bytes(encoded) > MAX_RESPONSE_BYTES:
        return _too_large(request)
    return QueryAnswer(200, encoded)


def _named_cuts(request: Request) -> dict[str, Any]:
    names = dict.fromkeys(".".join(each for each in path if isinstance(each, str)) for path in request.cut_lists)
    return {"extensions": {"truncated": list(names)}} if names else {}


def _too_large(request: Request) -> QueryAnswer:
    """Return the answer of an executed request: its mutations have been carried out nevertheless."""
    error = TooLarge("the response is too large; select fewer objects or fields")
    if not request.changes:
        return _refused([error], request)
    error = TooLarge(f"{error.detail}. The mutations have been carried out: do not repeat them for the response")
    return QueryAnswer(200, orjson.dumps({"data": None, "errors": [_formatted(error, request)]}))


class _PersistedQueryNotSupported(ClientError):
    title = "Persisted query not supported"


class _InvalidQueries(Exception):
    def __init__(self, errors: list[GraphQLError]) -> None:
        super().__init__("invalid")
        self.errors = errors


async def _execute(body: GraphqlRequest, request: Request) -> ExecutionResult:
    checked, variables = _check(body.query or "", body.variables or {}, body.operation_name, request)
    running = execute(
        schema(), checked, context_value=request, variable_values=variables, operation_name=body.operation_name or None
    )
    if isinstance(running, ExecutionResult):
        return running
    try:
        return await asyncio.wait_for(running, MAX_SECONDS)
    except TimeoutError:
        done = " Its mutations may have been carried out: check before you repeat them." if request.changes else ""
        detail = f"the query took longer than {MAX_SECONDS:g} seconds; select less at once.{done}"
        raise RetryableError(detail) from None


def _check(
    query: str, variables: dict[str, Any], name: str | None, request: Request
) -> tuple[DocumentNode, dict[str, Any]]:
    check_text(query)
    parsed = parse(query)
    chosen = _choose(parsed, name)
    if schema().get_root_type(chosen.operation) is None:
        raise InvalidQuery(f"there are no {chosen.operation.value}s; docs/graphql.md says what to do instead")
    if request.is_read_only and chosen.operation is not OperationType.QUERY:
        raise InvalidQuery("only queries are accepted here")
    declare_expected_types(schema(), parsed)
    if invalid := validate(schema(), parsed, specified_rules, max_errors=_MAX_ERRORS):
        raise _InvalidQueries(invalid)
    known = get_variable_values(schema(), chosen.variable_definitions or (), variables, max_errors=_MAX_ERRORS)
    if isinstance(known, list):
        raise _InvalidQueries(known)
    _check_fields(parsed, request.refused_fields)
    check_operation(schema(), parsed, chosen, known)
    return parsed, variables


def _check_fields(document: DocumentNode, refused: Mapping[str, str]) -> None:
    if not refused:
        return
    types = TypeInfo(schema())
    visit(document, TypeInfoVisitor(types, _FieldCheck(types, refused)))


class _FieldCheck(Visitor):
    def __init__(self, types: TypeInfo, refused: Mapping[str, str]) -> None:
        super().__init__()
        self._types, self._refused = types, refused

    def enter_field(self, node: FieldNode, *_: Any) -> None:
        name = f"{self._types.get_parent_type()}.{node.name.value}"
        if name in self._refused:
            raise InvalidQuery(f"{name} is not returned here: {self._refused[name]}")


def _choose(document: DocumentNode, name: str | None) -> OperationDefinitionNode:
    """Return the operation with this name, or the only one. The others are validated but neither counted nor run."""
    operations = [each for each in document.definitions if isinstance(each, OperationDefinitionNode)]
    if not operations:
        raise TooComplex("the query has no operation; send one")
    names = [each.name.value for each in operations if each.name is not None]
    if name:
        for each in operations:
            if each.name is not None and each.name.value == name:
                return each
        raise InvalidQuery(f"the query has no operation {name}; it has {_join_names(names)}")
    if len(operations) > 1:
        raise InvalidQuery(f"name one of the query's operations as `operationName`: it has {_join_names(names)}")
    return operations[0]


def _join_names(names: list[str]) -> str:
    return ", ".join(names[:_MAX_ERRORS]) or "one without a name"


def _refused(errors: Any, request: Request) -> QueryAnswer:
    status = max((error.status for error in errors if isinstance(error, AppError)), default=400)
    return QueryAnswer(status, orjson.dumps({"errors": [_formatted(error, request) for error in errors]}))


def _formatted(error: GraphQLError | AppError, request: Request) -> dict[str, Any]:
    """Return the message and the place, and as `extensions` the problem document that REST responds with."""
    cause = _cause(error)
    problem = document(cause, request.id)
    code = cause.title.upper().replace(" ", "_")
    retry = {"retryAfterSeconds": cause.retry_after} if isinstance(cause, RetryableError) else {}
    extensions = {"code": code, **{name: value for name, value in problem.items() if name != "detail"}, **retry}
    place: Mapping[str, Any] = error.formatted if isinstance(error, GraphQLError) else {}
    where = {name: place[name] for name in ("locations", "path") if name in place}
    return {"message": public_detail(cause), **where, "extensions": extensions}


def _cause(error: GraphQLError | AppError) -> AppError:
    if isinstance(error, AppError):
        return error
    original: Exception | None = error.original_error
    while isinstance(original, GraphQLError):
        original = original.original_error
    if original is None:
        return InvalidQuery(_with_known_values(error.message))
    return original if isinstance(original, AppError) else from_unexpected(original)


def _with_known_values(message: str) -> str:
    found = _OF_ENUM.search(message)
    kind = schema().type_map.get(found[1] or found[2]) if found else None
    return f"{message} Known values: {', '.join(kind.values)}" if isinstance(kind, GraphQLEnumType) else message


def _payload_bytes(json: bytes) -> int:
    """Count the bytes as Lambda sends them: quotes and backslashes are escaped again when JSON becomes a JSON
    string."""
    return len(json) + json.count(b'"') + json.count(b"\\")
