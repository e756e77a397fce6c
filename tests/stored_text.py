"""Everything that a stack stores, as text: items of the table, objects of the bucket in all versions, and messages."""

import gzip
import zlib
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from cupel_core.store import clients
from cupel_core.store.settings import Settings


def places_with(text: str, cloud: Settings) -> list[str]:
    """Where the text is stored: keys of items and objects, and names of queues."""
    return sorted({place for place, stored in _everything(cloud) if text in stored})


def _everything(cloud: Settings) -> Iterator[tuple[str, str]]:
    for page in clients.dynamodb().get_paginator("scan").paginate(TableName=cloud.table_name):
        for item in page["Items"]:
            yield f"{item['pk']['S']} {item['sk']['S']}", " ".join(_strings(item))
    pages = clients.s3().get_paginator("list_object_versions").paginate(Bucket=cloud.bucket_name)
    for version in (each for page in pages for each in page.get("Versions", [])):
        stored = clients.s3().get_object(Bucket=cloud.bucket_name, Key=version["Key"], VersionId=version["VersionId"])
        yield version["Key"], gzip.decompress(stored["Body"].read()).decode()
    for url in clients.sqs().list_queues().get("QueueUrls", []):
        messages = clients.sqs().receive_message(QueueUrl=url, MaxNumberOfMessages=10, VisibilityTimeout=0)
        yield url, " ".join(each["Body"] for each in messages.get("Messages", []))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, each in value.items():
            yield str(key)
            yield from _strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each)
    elif isinstance(value, bytes):
        with suppress(zlib.error):  # A leaf's log is not compressed, and has no text.
            yield zlib.decompress(value).decode()
    else:
        yield str(value)
