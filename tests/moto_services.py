"""What the tests change in moto: one request at a time, and no work that a test does not need."""

import copy
from collections import deque
from collections.abc import Callable
from functools import cache, lru_cache
from itertools import product
from threading import RLock
from types import SimpleNamespace
from typing import Any, NamedTuple

import botocore.handlers
from botocore import UNSIGNED
from botocore.regions import EndpointRulesetResolver
from moto.core import DEFAULT_ACCOUNT_ID, responses
from moto.core.base_backend import BackendDict, BaseBackend
from moto.core.botocore_stubber import BotocoreStubber
from moto.core.models import MockAWS, botocore_stubber
from moto.core.parse import BaseJSONParser
from moto.core.serialize import BaseJSONSerializer, ResponseSerializer
from moto.dynamodb.comparisons import ConditionExpressionParser
from moto.dynamodb.models import DynamoDBBackend, dynamodb_backends
from moto.dynamodb.models.dynamo_type import DynamoType, Item, LimitedSizeDict
from moto.dynamodb.models.table import Table
from moto.dynamodb.parsing import validators
from moto.dynamodb.parsing.ast_nodes import DepthFirstTraverser, Node
from moto.dynamodb.parsing.expressions import UpdateExpressionParser
from moto.dynamodb.parsing.validators import Validator
from moto.dynamodb.responses import DynamoHandler
from moto.s3.models import s3_backends
from moto.scheduler.models import scheduler_backends
from moto.sqs import models as sqs_models
from moto.sqs.models import Queue, sqs_backends

from cupel_core.domain.runs.run import Priority
from cupel_core.providers import PROVIDERS
from cupel_core.store.settings import Lane
from tests import direct_calls

_REQUEST_ID = "0" * 52
_LANES = [f"probe_{Lane(*each).name}" for each in product(PROVIDERS, Priority)]
_QUEUES = {
    f"cupel-test-{name}"
    for name in ("dispatch", "generate", "notify", "analyze", "turn", *_LANES, *(f"{lane}-dlq" for lane in _LANES))
}


class _Queues(dict[str, Queue]):
    """Creates a queue of the stack when it is first used: creating all took half of the time to prepare a test."""

    def __init__(self) -> None:
        super().__init__()
        self._unused = set(_QUEUES)

    def get(self, name: str, default: Any = None) -> Any:
        if name in self._unused:
            self._unused.remove(name)
            self[name] = Queue(name, "us-east-1", DEFAULT_ACCOUNT_ID)  # type: ignore[abstract]
        return super().get(name, default)


def create_queues() -> None:
    sqs_backends[DEFAULT_ACCOUNT_ID]["us-east-1"].queues = _Queues()


def create_bucket_and_schedules(name: str) -> None:
    """Create both without requests, which took several milliseconds of every test."""
    s3_backends[DEFAULT_ACCOUNT_ID]["aws"].create_bucket(name, "us-east-1")
    scheduler_backends[DEFAULT_ACCOUNT_ID]["us-east-1"].create_schedule_group(name, [])


_created_tables: dict[str, dict[str, Any]] = {}
"""The arguments with which moto created each table, by the name of the table."""


def create_table(name: str, request: Callable[[], object]) -> None:
    """Send the request the first time; later tests of the process get a table of the same properties without it."""
    backend = dynamodb_backends[DEFAULT_ACCOUNT_ID]["us-east-1"]
    if name in _created_tables:
        backend.create_table(**copy.deepcopy(_created_tables[name]))
        return
    create = backend.create_table

    def create_and_note(name: str, **properties: Any) -> Table:
        _created_tables[name] = copy.deepcopy({"name": name, **properties})
        return create(name, **properties)

    backend.create_table = create_and_note  # type: ignore[method-assign]
    try:
        request()
    finally:
        del backend.create_table  # type: ignore[method-assign]


def handle_one_request_at_a_time() -> None:
    """Workers send requests from several threads; moto copies items while another thread changes them."""
    lock, process = RLock(), BotocoreStubber.process_request

    def process_alone(self: BotocoreStubber, request: Any) -> Any:
        with lock:
            return process(self, request)

    BotocoreStubber.process_request = process_alone  # type: ignore[method-assign]
    direct_calls.install(lock)


def save_only_the_items_of_a_transaction() -> None:
    """Moto copies the whole table before each transaction, to restore it if the transaction is cancelled."""
    write, written = DynamoDBBackend.transact_write_items, list[dict[str, Any]]()

    def write_items(self: DynamoDBBackend, transact_items: list[dict[str, Any]]) -> None:
        written[:] = (request.get("Key") or request["Item"] for item in transact_items for request in item.values())
        write(self, transact_items)

    def copy_written(self: Table, memo: dict[int, Any]) -> Table:
        saved = copy.copy(self)
        saved.items = copy.copy(self.items)
        for partition, sort in {(_key(self.hash_key_attr, key), _key(self.range_key_attr, key)) for key in written}:
            if partition in self.items:
                items = saved.items[partition] = dict(saved.items[partition])
                if sort in items:
                    items[sort] = copy.deepcopy(items[sort], memo)
        return saved

    DynamoDBBackend.transact_write_items = write_items  # type: ignore[method-assign]
    Table.__deepcopy__ = copy_written  # type: ignore[attr-defined]


def answer_sooner() -> None:
    """Leave out what moto and botocore do for every request and no test needs: a third of the time of an AWS call."""
    responses.method_names_from_class = cache(responses.method_names_from_class)
    get_value = ResponseSerializer.get_value

    def get_field(self: ResponseSerializer, value: Any, key: str, shape: Any) -> Any:
        if type(value) is dict and self.operation_model.service_model.service_name == "dynamodb":
            return value.get(key)
        return get_value(self, value, key, shape)

    ResponseSerializer.get_value = get_field  # type: ignore[method-assign]
    # Moto copies a parsed expression before it changes it.
    UpdateExpressionParser.make = lru_cache(1_000)(UpdateExpressionParser.make)
    _remember_what_does_not_change()
    _compare_texts_as_they_are()
    _walk_expressions_sooner()
    _measure_each_item_once()
    _skip_absent_members_of_values()
    MockAWS._enable_patching = _answer_botocore_only  # type: ignore[method-assign]
    botocore.handlers.BUILTIN_HANDLERS.append(("choose-signer.dynamodb", _sign_only_for_a_stack))
    process = BotocoreStubber.process_request

    def process_directly(self: BotocoreStubber, request: Any) -> Any:
        if request.headers.get("X-Amz-Target", b"").startswith(b"DynamoDB_"):
            return _Handler(request).call_action()
        return process(self, request)

    BotocoreStubber.process_request = process_directly  # type: ignore[method-assign]


def _remember_what_does_not_change() -> None:
    """Keep what is the same for every request: the parts of a condition, and the URLs and backends of a service."""
    lex, get_urls = ConditionExpressionParser._lex_condition_expression, BaseBackend.urls.fget  # type: ignore[attr-defined]
    get_backend, construct = BackendDict.__getitem__, EndpointRulesetResolver.construct_endpoint
    lexed = lru_cache(1_000)(lambda text: tuple(lex(ConditionExpressionParser(text, None, None))))
    urls: dict[type, dict[str, Any]] = {}

    def get_urls_of_service(self: BaseBackend) -> dict[str, Any]:
        if type(self) not in urls:
            urls[type(self)] = get_urls(self)
        return urls[type(self)]

    def get_existing(self: BackendDict[Any], account: str) -> Any:
        return self.get(account) or get_backend(self, account)

    def construct_once(self: Any, operation_model: Any, call_args: Any, request_context: Any) -> Any:
        if self._service_model.service_name != "dynamodb":
            return construct(self, operation_model, call_args, request_context)
        if not hasattr(self, "constructed"):
            self.constructed = construct(self, operation_model, call_args, request_context)
        return self.constructed

    ConditionExpressionParser._lex_condition_expression = lambda self: deque(  # type: ignore[method-assign]
        lexed(self.condition_expression)
    )
    BaseBackend.urls = property(get_urls_of_service)  # type: ignore[assignment, method-assign]
    BackendDict.__getitem__ = get_existing  # type: ignore[method-assign]
    EndpointRulesetResolver.construct_endpoint = construct_once
    responses.gen_amzn_requestid_long = _add_request_id
    sqs_models.camelcase_to_underscores = cache(sqs_models.camelcase_to_underscores)


def _compare_texts_as_they_are() -> None:
    """Each query sorts all items of its table by their keys; moto asked six times of what type each of them is."""
    cast = DynamoType.cast_value.fget  # type: ignore[attr-defined]

    def cast_value(self: DynamoType) -> Any:
        return self.value if self.type == "S" else cast(self)

    def is_equal(self: DynamoType, other: DynamoType) -> bool:
        if self.type != other.type:
            return False
        return bool(self.value == other.value if self.type == "S" else cast(self) == cast(other))

    def is_less(self: DynamoType, other: DynamoType) -> bool:
        return bool(cast_value(self) < cast_value(other))

    DynamoType.cast_value = property(cast_value)  # type: ignore[assignment, method-assign]
    DynamoType.__eq__ = is_equal  # type: ignore[assignment, method-assign]
    DynamoType.__lt__ = is_less  # type: ignore[method-assign]
    DynamoType.__hash__ = lambda self: hash((self.type, cast_value(self)))  # type: ignore[method-assign]


class _Processes(NamedTuple):
    kinds: tuple[type, ...]
    by_kind: dict[type, Callable[[Any], Any]]


@cache
def _is_node(kind: type) -> bool:
    return issubclass(kind, Node)


@cache
def _processed_as(kind: type, processed: tuple[type, ...]) -> type | None:
    return next((each for each in processed if issubclass(kind, each)), None)


def _walk(self: Any, node: Any, position: int, processes: _Processes) -> Any:
    parent = node.parent
    for each, child in enumerate(node.children or ()):
        self.pre_processing_of_child(node, each)
        if _is_node(type(child)):
            _walk(self, child, each, processes)
    if (kind := _processed_as(type(node), processes.kinds)) is not None:
        node = processes.by_kind[kind](node)
        node.parent = parent
        if parent:
            parent.children[position] = node
    return node


def _copied(node: Any, parent: Any = None) -> Any:
    if not _is_node(type(node)):
        return copy.deepcopy(node)
    made = object.__new__(type(node))
    made.type, made.parent = node.type, parent
    made.children = node.children and [_copied(each, made) for each in node.children]
    return made


_WITHOUT_VALUES = (validators.ActionCountValidator, validators.OverlappingPathsValidator)
"""Moto's checks of an update that depend on its expression and its names only."""


def _walk_expressions_sooner() -> None:
    """Moto copies the expression of each update, walks ten times through it, and checks its form each time."""
    make, validate = Validator.__init__, Validator.validate
    checked: set[tuple[Any, ...]] = set()

    def traverse(self: Any, node: Any) -> Any:
        processes = self._processing_map()
        return _walk(self, node, -1, _Processes(tuple(processes), processes))

    def remember(self: Any, expression: Any, expression_attribute_names: Any, *args: Any, **named: Any) -> None:
        make(self, expression, expression_attribute_names, *args, **named)
        self.form = (expression, *sorted((expression_attribute_names or {}).items()))
        if self.form in checked:
            self.processors = [each for each in self.processors if not isinstance(each, _WITHOUT_VALUES)]

    def validate_and_remember(self: Any) -> Any:
        validated = validate(self)
        checked.add(self.form)
        return validated

    DepthFirstTraverser.traverse = traverse
    Validator.__init__ = remember  # type: ignore[method-assign]
    Validator.validate = validate_and_remember  # type: ignore[method-assign]
    validators.deepcopy = _copied  # type: ignore[assignment]


def _measure_each_item_once() -> None:
    """Moto measures all attributes of an item that it reads whenever it adds another one."""

    def make(self: Item, hash_key: DynamoType, range_key: DynamoType | None, attrs: dict[str, Any]) -> None:
        self.hash_key, self.range_key, self.attrs = hash_key, range_key, LimitedSizeDict()
        *others, last = [(key, DynamoType(value)) for key, value in attrs.items()] or [("", None)]
        dict.update(self.attrs, others)
        if last[1] is not None:
            self.attrs[last[0]] = last[1]

    Item.__init__ = make  # type: ignore[method-assign]


def _skip_absent_members_of_values() -> None:
    """A value of DynamoDB has one of ten members; moto looked for all ten in each value that it read or returned."""
    serialize, parse = BaseJSONSerializer._serialize_type_structure, BaseJSONParser._parse_structure

    def serialize_value(self: Any, serialized: Any, value: Any, shape: Any, key: str) -> None:
        if shape.name != "AttributeValue" or type(value) is not dict:
            serialize(self, serialized, value, shape, key)
            return
        serialized[key] = members = {}
        for kind, content in value.items():
            if type(content) is str and kind in ("S", "N"):
                members[kind] = content
            else:
                self._serialize_structure_member(members, value, shape.members[kind], kind)

    def parse_value(self: Any, shape: Any, value: Any) -> Any:
        if shape.name != "AttributeValue" or type(value) is not dict:
            return parse(self, shape, value)
        return {
            kind: content if type(content) is str and kind in ("S", "N") else self._parse_shape(member, content)
            for kind, content in value.items()
            if content is not None and (member := shape.members.get(kind)) is not None
        }

    BaseJSONSerializer._serialize_type_structure = serialize_value  # type: ignore[method-assign]
    BaseJSONParser._parse_structure = parse_value  # type: ignore[method-assign]


def _add_request_id(headers: dict[str, Any] | None = None) -> str:
    """Add the same id to each response, for which moto drew 52 random characters."""
    if headers is not None:
        headers["x-amzn-requestid"] = _REQUEST_ID
    return _REQUEST_ID


def _sign_only_for_a_stack(**_: Any) -> Any:
    """A stack of the embedded cloud refuses requests that its key has not signed."""
    return UNSIGNED if botocore_stubber.enabled else None


def _answer_botocore_only(self: MockAWS, reset: bool = True) -> None:
    """Leave out the 1,200 patterns that answer the library `requests`, which nothing here uses for AWS."""
    botocore_stubber.enabled = True
    if reset:
        self.reset()


class _Handler(DynamoHandler):
    """Answers a request of DynamoDB's client; moto looks for the service by URL and builds a WSGI request otherwise.

    The region and the account are always those of the tests: only tests with a stack show a wrong region or signature.
    """

    def __init__(self, request: Any) -> None:
        super().__init__()
        self.headers = {name: _text(value) for name, value in request.headers.items()}
        self.response_headers = {"server": "amazon.com"}
        self.querystring: dict[str, Any] = {}
        self.region, self.partition = "us-east-1", "aws"
        self.current_account, self.access_key = DEFAULT_ACCOUNT_ID, "test"
        self.uri_match = {}
        sent = SimpleNamespace(
            method=request.method,
            path="/",
            values={},
            headers=self.headers,
            data=request.body,
            content_type=self.headers["Content-Type"],
        )
        self.parse_parameters(sent)  # type: ignore[arg-type]


def _text(value: str | bytes) -> str:
    return value if isinstance(value, str) else value.decode()


def _key(attribute: str | None, item: dict[str, Any]) -> DynamoType:
    return DynamoType(item[str(attribute)])
