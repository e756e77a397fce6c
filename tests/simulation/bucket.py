"""In-memory S3: PutObject and GetObject."""

from io import BytesIO
from typing import Any

from tests.simulation.services import ServiceError


class Bucket:
    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}

    def execute(self, operation: str, request: Any) -> Any:
        if operation == "PutObject":
            self.objects[request["Key"]] = request["Body"]
            return {}
        if operation == "GetObject":
            if request["Key"] not in self.objects:
                raise ServiceError("NoSuchKey", request["Key"])
            return {"Body": BytesIO(self.objects[request["Key"]])}
        raise ServiceError("NotImplemented", operation)
