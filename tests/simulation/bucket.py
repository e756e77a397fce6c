"""In-memory S3: objects are put, read, listed and deleted."""

import gzip
from io import BytesIO
from typing import Any

from tests.simulation.services import ServiceError


class Bucket:
    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}

    def text(self, key: str) -> str:
        """Of an object that is compressed, as all documents are."""
        return gzip.decompress(self.objects[key]).decode()

    def execute(self, operation: str, request: Any) -> Any:
        if operation == "PutObject":
            self.objects[request["Key"]] = request["Body"]
            return {}
        if operation == "GetObject":
            if request["Key"] not in self.objects:
                raise ServiceError("NoSuchKey", request["Key"])
            return {"Body": BytesIO(self.objects[request["Key"]])}
        if operation == "ListObjectVersions":
            found = sorted(key for key in self.objects if key.startswith(request.get("Prefix", "")))
            return {"Versions": [{"Key": key, "VersionId": "null"} for key in found], "IsTruncated": False}
        if operation == "DeleteObjects":
            for each in request["Delete"]["Objects"]:
                self.objects.pop(each["Key"], None)
            return {}
        raise ServiceError("NotImplemented", operation)
