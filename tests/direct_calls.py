"""Moto answers calls of DynamoDB, and simple ones of S3, without HTTP here, because HTTP took most of their time.

A call still goes through HTTP if a test has registered a handler for an event of its client, or if a stack answers it.
"""

import io
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from typing import Any, cast

from botocore.client import BaseClient, ClientCreator
from botocore.exceptions import ClientError, ParamValidationError
from botocore.hooks import HierarchicalEmitter
from botocore.response import StreamingBody
from botocore.validate import ParamValidationDecorator
from moto.core import DEFAULT_ACCOUNT_ID
from moto.core.exceptions import ServiceException
from moto.core.models import botocore_stubber
from moto.core.responses import ActionResult
from moto.core.utils import camelcase_to_underscores
from moto.dynamodb.responses import DynamoHandler
from moto.s3.models import s3_backends
from werkzeug.exceptions import HTTPException

_OPERATIONS = {
    each: camelcase_to_underscores(each)
    for each in (
        "BatchGetItem",
        "BatchWriteItem",
        "DeleteItem",
        "GetItem",
        "PutItem",
        "Query",
        "Scan",
        "TransactGetItems",
        "TransactWriteItems",
        "UpdateItem",
    )
}
_HEADERS = {"ContentType": "Content-Type", "ContentEncoding": "Content-Encoding"}
_OF_OBJECTS = {"GetObject": {"Bucket", "Key"}, "PutObject": {"Bucket", "Key", "Body", *_HEADERS}}
"""The parameters with which moto is called directly, by operation of S3."""
_WITHOUT_EFFECT = "before-send.*.*"
"""PynamoDB registers a handler for this event, which adds no header because its calls have none."""
_METADATA = {"RequestId": "0" * 52, "HTTPHeaders": {}, "RetryAttempts": 0}


def install(lock: AbstractContextManager[Any]) -> None:
    """Replace botocore's calls by direct ones. The lock lets one call be answered at a time."""
    _note_registrations()
    call = BaseClient._make_api_call  # type: ignore[attr-defined]

    def call_directly(self: Any, operation_name: str, api_params: dict[str, Any]) -> Any:
        answered = None
        if botocore_stubber.enabled and not self.meta.events._emitter.registered:
            match self._service_model.service_name:
                case "dynamodb" if operation_name in _OPERATIONS:
                    with lock:
                        return _answer(self, operation_name, api_params)
                case "s3" if operation_name in _OF_OBJECTS:
                    with lock:
                        answered = _answer_for_object(self, operation_name, api_params)
        return answered or call(self, operation_name, api_params)

    BaseClient._make_api_call = call_directly  # type: ignore[attr-defined]


def _note_registrations() -> None:
    """Let the emitter of each client list the handlers that were registered since the client was created."""
    create, register = ClientCreator.create_client, HierarchicalEmitter._register_section
    unregister = HierarchicalEmitter.unregister

    def create_client(self: Any, *args: Any, **options: Any) -> Any:
        client = create(self, *args, **options)
        client.meta.events._emitter.registered = []
        return client

    def note(self: Any, event_name: str, handler: Any, *args: Any, **options: Any) -> None:
        register(self, event_name, handler, *args, **options)
        if event_name != _WITHOUT_EFFECT and hasattr(self, "registered"):
            self.registered.append((event_name, handler))

    def forget(self: Any, event_name: str, handler: Any = None, *args: Any, **options: Any) -> None:
        unregister(self, event_name, handler, *args, **options)
        if (event_name, handler) in getattr(self, "registered", ()):
            self.registered.remove((event_name, handler))

    ClientCreator.create_client = create_client
    HierarchicalEmitter._register_section = note
    HierarchicalEmitter.unregister = forget


def _answer(client: Any, operation_name: str, api_params: dict[str, Any]) -> dict[str, Any]:
    model = client._service_model.operation_model(operation_name)
    _validate(client, model, api_params)
    handler = _Handler(operation_name, _sent(api_params))
    try:
        result = getattr(handler, _OPERATIONS[operation_name])().result
    except (ServiceException, HTTPException) as error:
        raise _refusal(client, model, handler, error) from None
    return {**_received(result, model.output_shape), "ResponseMetadata": {**_METADATA, "HTTPStatusCode": 200}}


def _validate(client: Any, model: Any, api_params: dict[str, Any]) -> None:
    if isinstance(client._serializer, ParamValidationDecorator):
        report = client._serializer._param_validator.validate(api_params, model.input_shape)
        if report.has_errors():
            raise ParamValidationError(report=report.generate_report())


def _answer_for_object(client: Any, operation_name: str, api_params: dict[str, Any]) -> dict[str, Any] | None:
    """Write or read an object of a bucket without versions. None if the call has other parameters, or will fail."""
    backend = s3_backends[DEFAULT_ACCOUNT_ID]["aws"]
    bucket = backend.buckets.get(api_params.get("Bucket", ""))
    if not api_params.keys() <= _OF_OBJECTS[operation_name] or bucket is None or bucket.is_versioned:
        return None
    _validate(client, client._service_model.operation_model(operation_name), api_params)
    metadata = {**_METADATA, "HTTPStatusCode": 200}
    if operation_name == "PutObject":
        if type(api_params.get("Body")) is not bytes:
            return None
        written = backend.put_object(bucket.name, api_params["Key"], api_params["Body"], storage="STANDARD")
        written.set_metadata({header: api_params[name] for name, header in _HEADERS.items() if name in api_params})
        written.set_acl(bucket.acl)
        return {"ETag": written.etag, "ResponseMetadata": metadata}
    found = backend.get_object(bucket.name, api_params["Key"])
    if found is None:
        return None
    return {
        "Body": StreamingBody(io.BytesIO(found.value), found.size),
        "ContentLength": found.size,
        "ETag": found.etag,
        "LastModified": found.last_modified,
        "Metadata": {},
        **{name: found.metadata[header] for name, header in _HEADERS.items() if header in found.metadata},
        "ResponseMetadata": metadata,
    }


class _Handler(DynamoHandler):
    """It is moto's handler of one call, in the region and the account of the tests."""

    def __init__(self, operation_name: str, body: dict[str, Any]) -> None:
        super().__init__()
        self.operation_name = operation_name
        self.body = self.params = body
        self.region, self.partition = "us-east-1", "aws"
        self.current_account, self.access_key = DEFAULT_ACCOUNT_ID, "test"
        self.headers = {"Content-Type": "application/x-amz-json-1.0"}
        self.response_headers: dict[str, str] = {}
        self.querystring: dict[str, Any] = {}
        self.uri_match = {}

    def _get_action(self) -> str:
        return self.operation_name


def _refusal(client: Any, model: Any, handler: _Handler, error: ServiceException | HTTPException) -> ClientError:
    if isinstance(error, ServiceException):
        status, headers, body = handler.serialized(ActionResult(error))
    else:
        status, headers, body = error.code or 400, {}, str(error.description)
    parser, response = client._response_parser, {"status_code": status, "headers": headers, "body": body.encode()}
    found = parser.parse(response, model.output_shape)
    client._endpoint._add_modeled_error_fields(response, found, model, parser)
    found["ResponseMetadata"] = {**_METADATA, "HTTPStatusCode": status}
    error_class = client.exceptions.from_code(found["Error"]["Code"])
    return cast(ClientError, error_class(found, model.name))


def _sent(value: Any) -> Any:
    """Return a copy of a request as moto reads it: without absent members, with plain texts and lists."""
    kind = type(value)
    if kind is str or kind is bytes:
        return value
    if kind is dict:
        return {name: _sent(each) for name, each in value.items() if each is not None}
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, bytearray | memoryview):
        return bytes(value)
    if isinstance(value, Mapping):
        return _sent(dict(value))
    return [_sent(each) for each in value] if isinstance(value, Iterable) else value


def _received(value: Any, shape: Any) -> Any:
    """Return a copy of a response as botocore reads it: with the members that the service describes."""
    match shape.type_name:
        case "structure":
            members = shape.members
            if shape.name == "AttributeValue":
                return {
                    kind: content if type(content) is str and kind in ("S", "N") else _received(content, members[kind])
                    for kind, content in value.items()
                    if content is not None
                }
            found = ((name, value.get(name)) for name in members)
            return {name: _received(each, members[name]) for name, each in found if each is not None}
        case "map":
            return {name: _received(each, shape.value) for name, each in value.items()}
        case "list":
            return [_received(each, shape.member) for each in value]
        case "blob":
            return value.encode() if isinstance(value, str) else bytes(value)
        case "string":
            return str(value)
        case "integer" | "long":
            return int(value)
        case "double" | "float":
            return float(value)
    return value
