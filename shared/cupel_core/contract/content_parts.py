"""Content of messages: a text, or a list of parts with images and PDFs."""

import re
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    Field,
    StringConstraints,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)
from pydantic_core import InitErrorDetails, PydanticCustomError

from cupel_core.contract.common import RequestModel, ResponseModel, example, fields_error, require_one
from cupel_core.contract.fields import SINGLE_LINE, not_blank
from cupel_core.domain.conversations.parts import FilePart, ImageDetail, MessagePart, PartType, TextPart
from cupel_core.domain.definitions.scenarios import MAX_TEXT_LENGTH
from cupel_core.domain.files.formats import MEDIA_TYPES

MAX_PARTS = 50
"""Maximum number of parts of one message."""
MAX_DATA_URL_LENGTH = 5_000_000
"""A request has at most 1 MB, an import 5 MB; larger files are uploaded."""
_DATA_URL = re.compile(r"data:[a-z]+/[a-z+.-]+;base64,")


def _plain_name(name: str) -> str:
    if "/" in name or "\\" in name or not name.strip(". "):
        raise ValueError("must be the name of a file without a path")
    return name


def _data_url(url: str) -> str:
    if url.startswith(("http:", "https:")):
        raise ValueError("must be a data URL with the file itself: nothing is fetched from addresses")
    if not (match := _DATA_URL.match(url)) or match[0][5:-8] not in MEDIA_TYPES:
        raise ValueError(f"must begin with data:<type>;base64, and one of the types {', '.join(MEDIA_TYPES)}")
    return url


FileName = Annotated[
    str,
    StringConstraints(strict=True, min_length=1, max_length=200),
    SINGLE_LINE,
    AfterValidator(_plain_name),
    Field(description="Name of the file, without a path"),
]
FileId = Annotated[str, StringConstraints(strict=True, pattern=r"^file_[0-9a-f]{32}$")]
MediaType = Annotated[str, Field(description=f"One of {', '.join(MEDIA_TYPES)}")]


class ContentPartInput(RequestModel):
    """`text` has a text; `image` (PNG, JPEG, WebP, GIF) and `file` (PDF) have the `fileId` of an uploaded file, or a
    `dataUrl`, which is stored as a file."""

    model_config = example({"type": "image", "fileId": "file_0123456789abcdef0123456789abcdef", "name": "cat.png"})

    type: PartType
    """`text`, `image` (PNG, JPEG, WebP, GIF) or `file` (PDF)."""
    text: (
        Annotated[str, StringConstraints(strict=True, max_length=MAX_TEXT_LENGTH), AfterValidator(not_blank)] | None
    ) = None
    """The text of a part of type `text`."""
    file_id: FileId | None = None
    """Id of a file of the workspace."""
    data_url: (
        Annotated[str, StringConstraints(strict=True, max_length=MAX_DATA_URL_LENGTH), AfterValidator(_data_url)] | None
    ) = None
    """The file itself, as `data:image/png;base64,…`. Example: data:image/gif;base64,R0lGODlhAQABAAAAADs="""
    name: FileName | None = None
    detail: ImageDetail | None = None
    """Level of detail at which OpenAI's models look at an image. Example: high"""
    media_type: str | None = None
    """Ignored; accepted as in a response. Example: image/png"""
    size: int | None = None
    """Ignored; accepted as in a response."""
    width: int | None = None
    """Ignored; accepted as in a response."""
    height: int | None = None
    """Ignored; accepted as in a response."""

    @model_validator(mode="after")
    def _has_what_its_type_needs(self) -> "ContentPartInput":
        if self.type is PartType.TEXT:
            if self.text is None:
                raise fields_error(("text",), "is required with the type text")
            if self.file_id or self.data_url:
                raise ValueError("must have a text, and neither fileId nor dataUrl, because its type is text")
        elif self.text is not None:
            raise ValueError(f"must have exactly one of fileId and dataUrl, because its type is {self.type}")
        else:
            require_one(self, "file_id", "data_url")
        return self

    def part(self) -> MessagePart:
        if self.type is PartType.TEXT:
            return TextPart(self.text or "")
        return FilePart(self.type, self.file_id, self.name, self.detail, data_url=self.data_url)


def _is_none(value: object) -> bool:
    return value is None


class ContentPartResponse(ResponseModel):
    type: PartType
    """`text`, `image` (PNG, JPEG, WebP, GIF) or `file` (PDF). Example: image"""
    text: Annotated[str | None, Field(exclude_if=_is_none)] = None
    """The text of a part of type `text`."""
    file_id: Annotated[str | None, Field(exclude_if=_is_none)] = None
    """Id of a file of the workspace. Example: file_9f86d081884c7d659a2feaa0c55ad015"""
    name: Annotated[str | None, Field(exclude_if=_is_none)] = None
    """Name of the file. Example: cat.png"""
    detail: Annotated[ImageDetail | None, Field(exclude_if=_is_none)] = None
    """Level of detail at which OpenAI's models look at an image. Example: high"""
    media_type: Annotated[MediaType | None, Field(exclude_if=_is_none)] = None
    """Example: image/png"""
    size: Annotated[int | None, Field(exclude_if=_is_none)] = None
    """Size in bytes."""
    width: Annotated[int | None, Field(exclude_if=_is_none)] = None
    """Width in pixels."""
    height: Annotated[int | None, Field(exclude_if=_is_none)] = None
    """Height in pixels."""

    @classmethod
    def of(cls, part: MessagePart) -> "ContentPartResponse":
        return cls.model_validate(part.to_json())


def _of_one_kind(value: Any, validate: ValidatorFunctionWrapHandler) -> Any:
    """Raise only the errors of the kind of content that was sent, under the field's own name."""
    try:
        return validate(value)
    except ValidationError as error:
        kind = "list" if isinstance(value, list) else "str"
        problems = [
            InitErrorDetails(
                type=PydanticCustomError(each["type"], each["msg"]), loc=each["loc"][1:], input=each["input"]
            )
            for each in error.errors(include_url=False)
            if each["loc"] and str(each["loc"][0]).partition("[")[0].endswith(kind)
        ]
        if not problems:
            raise
        raise ValidationError.from_exception_data(error.title, problems) from None


MessageContent = Annotated[
    Annotated[str, StringConstraints(strict=True, max_length=MAX_TEXT_LENGTH)]
    | Annotated[list[ContentPartInput], Field(min_length=1, max_length=MAX_PARTS)],
    WrapValidator(_of_one_kind),
]
"""The content of a message; only a user's message may have parts that are no text."""
