"""Bases of request and response models: camelCase names; requests refuse unknown fields."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from types import UnionType
from typing import Annotated, Any, Self, get_args

from pydantic import (
    AliasChoices,
    AliasGenerator,
    AliasPath,
    BaseModel,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    ModelWrapValidatorHandler,
    PlainSerializer,
    ValidationError,
    WithJsonSchema,
    model_validator,
)
from pydantic.alias_generators import to_camel
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, ErrorDetails, InitErrorDetails, PydanticCustomError

from cupel_core.base.clock import to_iso
from cupel_core.base.deferred_models import DeferredModel
from cupel_core.domain.text.near_names import unknown_field_message

MAX_ERRORS = 100
"""Fields that an error names: a body of 1 MB may have 100,000 unknown ones, and a response has at most 6 MB."""


_models_of_defaults: set[type[BaseModel]] = set()


class _DocumentedModel(DeferredModel):
    """A model whose schema has the docstrings of its fields as descriptions."""

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        from cupel_core.contract.field_docs import describe_fields  # only documents need it

        for model in _models_of_defaults:  # The document shows their defaults as they write them.
            model.model_rebuild()
        schema = handler(core_schema)
        describe_fields(cls, handler.resolve_ref_schema(schema))
        return schema


class RequestModel(_DocumentedModel):
    """Refuses unknown fields with a message that lists the known ones."""

    model_config = ConfigDict(alias_generator=to_camel, extra="forbid", frozen=True)

    @model_validator(mode="wrap")
    @classmethod
    def _list_known_fields(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        try:
            return handler(data)
        except ValidationError as error:
            problems = [cls._described(each) for each in error.errors(include_url=False)[:MAX_ERRORS]]
            raise ValidationError.from_exception_data(error.title, problems) from None

    @classmethod
    def _described(cls, error: ErrorDetails) -> InitErrorDetails:
        """Every error as it is, but one about an unknown field of this model, not of a model in it."""
        message = error["msg"]
        if error["type"] == "extra_forbidden" and len(error["loc"]) == 1:
            message = unknown_field_message(str(error["loc"][0]), field_names(cls), _nested_paths(cls))
        return InitErrorDetails(
            type=PydanticCustomError(error["type"], message),
            loc=error["loc"],
            input=error["input"],
        )


def with_defaults[Model: BaseModel](model: type[Model]) -> Model:
    """Return what the model's constructor returns without arguments, as the default of a field or parameter.

    Its validator, which takes milliseconds to make, is not made while a module is imported.
    """
    _models_of_defaults.add(model)
    return model.model_construct()


def same_fields(source: object, names: Iterable[str]) -> dict[str, Any]:
    """The values of those of the names that the source has as fields, or as properties if it is no model."""
    known = type(source).model_fields if isinstance(source, BaseModel) else None
    return {
        name: getattr(source, name) for name in names if (hasattr(source, name) if known is None else name in known)
    }


def require_one(model: BaseModel, *names: str) -> None:
    """Raise an error of these fields unless exactly one of them is given. Validators of a model call it.

    If several are given, only those are named.
    """
    given = [name for name in names if getattr(model, name) is not None]
    if len(given) != 1:
        raise fields_error(given or names, f"exactly one of {_joined(names)} must be given")


def require_any(model: BaseModel, *names: str) -> None:
    """The same unless at least one of them is given."""
    if all(getattr(model, name) is None for name in names):
        raise fields_error(names, f"at least one of {_joined(names)} must be given")


def forbid_both(model: BaseModel, first: str, second: str) -> None:
    """The same if both are given."""
    if getattr(model, first) is not None and getattr(model, second) is not None:
        raise fields_error((first, second), f"at most one of {_joined((first, second))} may be given")


def require_exactly_with(model: BaseModel, name: str, reason: str, *, applies: bool) -> None:
    """The same unless the field is given where `reason` applies, such as `the role tool`, and nowhere else."""
    is_given = getattr(model, name) is not None
    if is_given != applies:
        alias = type(model).model_fields[name].alias or name
        raise fields_error((alias,), f"is {'only possible' if is_given else 'required'} with {reason}")


def fields_error(names: Iterable[str], message: str) -> ValidationError:
    """An error of each of these fields, by a rule about them together; for validators of a model to raise."""
    kind = PydanticCustomError("fields", "{message}", {"message": message})
    problems = [InitErrorDetails(type=kind, loc=(to_camel(name),), input=None) for name in names]
    return ValidationError.from_exception_data("fields", problems)


def _joined(names: Iterable[str]) -> str:
    *first, last = map(to_camel, names)
    return f"{', '.join(first)} and {last}"


def field_names(model: type[BaseModel]) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]


def _nested_paths(model: type[BaseModel]) -> dict[str, str]:
    """`config.judgeModel` for `judgeModel`, and so on, of the objects that the model has."""
    return {
        inner: f"{field.alias or name}.{inner}"
        for name, field in model.model_fields.items()
        for kind in _alternatives(field.annotation)
        if isinstance(kind, type) and issubclass(kind, RequestModel)
        for inner in field_names(kind)
    }


def _alternatives(annotation: Any) -> tuple[Any, ...]:
    """Return both alternatives of `X | None`, and any other type itself."""
    return get_args(annotation) if isinstance(annotation, UnionType) else (annotation,)


def _names_in_values(name: str) -> AliasChoices:
    """Return the name of a field in a value, and that in JSON. A value is not asked for the latter, because it has no
    such attribute, and the error that says so takes longer than reading a field."""
    return AliasChoices(name, to_camel(name))


class ResponseModel(_DocumentedModel):
    """A class `RunResponse` is published as the schema `Run`.

    Its fields are read from the attributes of a value that have their names, or from those that `read_from` names; so
    are the fields of the models in it.
    """

    model_config = ConfigDict(
        alias_generator=AliasGenerator(to_camel, _names_in_values), populate_by_name=True, from_attributes=True
    )

    @classmethod
    def from_value(cls, value: object, /, **further: Any) -> Self:
        """Return the response that describes a value. `further` are attributes that the value has not, or has
        otherwise."""
        return cls.model_validate(_Extended(value, further) if further else value)


class _Extended:
    """A value with further attributes, which take precedence over its own."""

    __slots__ = ("__dict__", "_value")

    def __init__(self, value: object, further: dict[str, Any]) -> None:
        self.__dict__ = further
        self._value = value

    def __getattr__(self, name: str) -> Any:
        return getattr(self._value, name)


def read_from(path: str) -> Any:
    """Let the field of a response be read from an attribute with another name, such as `parent_id`, or from one of an
    attribute, such as `labels.name`. The field needs a default if an attribute on the path may be None."""
    return Field(validation_alias=AliasPath(*path.split(".")))


Time = Annotated[
    datetime,
    PlainSerializer(to_iso, when_used="json"),
    WithJsonSchema({"type": "string", "format": "date-time"}, mode="serialization"),
]
"""Serialized as ISO 8601 in UTC with milliseconds."""


def example(body: Mapping[str, Any]) -> ConfigDict:
    """The configuration of a request model, with this body as its example in the OpenAPI document."""
    return ConfigDict(json_schema_extra={"examples": [dict(body)]})
