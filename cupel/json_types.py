"""JSON objects as the API sends and accepts them."""

from typing import Any

type Json = dict[str, Any]


class TaggedJson(dict[str, Any]):
    """The object of a response; `etag` identifies the state of what can be edited, None for anything else."""

    def __init__(self, body: Json, etag: str | None = None) -> None:
        super().__init__(body)
        self.etag = etag


def without_none(**fields: object) -> Json:
    return {name: value for name, value in fields.items() if value is not None}
