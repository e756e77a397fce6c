"""Compressed documents in the stack's bucket. Each is written once and never changed, so readers may cache it.

All but files are gzipped JSON or gzipped bytes. `transcripts/` comes first in a key, because the bucket's lifecycle
rule knows prefixes only.

scenarios/<ws>/<definitionId>/<pageId>.json.gz           a page of up to 1,000 scenarios, 4 MB if there are several
generations/<ws>/<generationId>/<partId>.json.gz         the texts of a generation so far
runs/<ws>/<runId>/snapshot.json.gz                       a run's snapshot: content, manifest, sampled scenarios
transcripts/<ws>/<runId>/<index>-<unique>.json.gz        messages above 8 KB; the name is unique per writer
transcripts/<ws>/<runId>/<index>-<unique>.score.json.gz  a rescore's result above 8 KB
transcripts/<ws>/<runId>/report-<reportId>.json.gz       the quotations of conversations in a report
analyses/<ws>/<runId>/<revision>/counts-<leaf>.bin.gz    counts of the outcomes of 10,000 probes
analyses/<ws>/<runId>/<analysisId>.json.gz               the figures of an analysis
analyses/<ws>/<runId>/reports/<reportId>.json.gz         the figures of a report
analyses/<ws>/<runId>/judges/<key>.json.gz               the accuracy of the run's judge on people's labels
comparisons/<ws>/<comparisonId>/figures.json.gz          a comparison's figures; `scenarios-<row>.json.gz` beside it
chats/<ws>/<chatId>/<unique>.json.gz                     a text of a chat above 8 KB
uploads/<ws>/<fileId>                                    a file, or a part of one, as uploaded, until it is checked
files/<ws>/<fileId>                                      an image or a PDF, under an id that follows from its content
openai-files/<ws>/<fileId>                               rows of data for runs of OpenAI's evals
"""

import gzip
import zlib
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote

import orjson

from cupel_core.base.errors import NotFound, RetryableError, TooLarge
from cupel_core.store import clients
from cupel_core.store.settings import settings

# Level 3 costs a third of the CPU of the default and 10 % more bytes on transcripts.
_COMPRESSION = 3
_GZIP = 16 + zlib.MAX_WBITS


def put_json(key: str, value: object) -> None:
    put_text(key, orjson.dumps(value))


def put_text(key: str, text: bytes) -> None:
    _put(key, text, "application/json")


def put_bytes(key: str, data: bytes) -> None:
    _put(key, data, "application/octet-stream")


def _put(key: str, data: bytes, content_type: str) -> None:
    clients.s3().put_object(
        Bucket=settings().bucket_name,
        Key=key,
        Body=gzip.compress(data, compresslevel=_COMPRESSION, mtime=0),
        ContentType=content_type,
        ContentEncoding="gzip",
    )


def get_json(key: str) -> Any:
    """Return the document. Raise NotFound if there is none."""
    return orjson.loads(get_text(key))


def get_text(key: str) -> bytes:
    return gzip.decompress(_get(key))


def get_bytes(key: str, max_bytes: int) -> bytes:
    """Return the document, at most `max_bytes` of it. Raise NotFound if there is none."""
    return zlib.decompressobj(wbits=_GZIP).decompress(_get(key), max_bytes)


def _get(key: str) -> bytes:
    client = clients.s3()
    try:
        response = client.get_object(Bucket=settings().bucket_name, Key=key)
    except client.exceptions.NoSuchKey:
        raise NotFound(f"there is no object {key}") from None
    return response["Body"].read()


def put_file(key: str, content: bytes, media_type: str) -> None:
    clients.s3().put_object(Bucket=settings().bucket_name, Key=key, Body=content, ContentType=media_type)


def get_file(key: str, max_bytes: int) -> bytes:
    """Return the file. Raise NotFound if there is none, and TooLarge, without reading it, if it has more bytes."""
    client = clients.s3()
    try:
        response = client.get_object(Bucket=settings().bucket_name, Key=key)
    except client.exceptions.NoSuchKey:
        raise NotFound(f"there is no object {key}") from None
    with response["Body"] as body:
        if response["ContentLength"] > max_bytes:
            raise TooLarge(f"the file has {response['ContentLength']:,} bytes; the maximum is {max_bytes:,}")
        return body.read()


def upload_url(key: str, media_type: str, size: int, checksum: str, seconds: int) -> str:
    """Return a presigned address that accepts this one file by PUT, with the headers that were signed."""
    return clients.s3_addresses().generate_presigned_url(
        "put_object",
        Params={
            "Bucket": settings().bucket_name,
            "Key": key,
            "ContentType": media_type,
            "ContentLength": size,
            "ChecksumSHA256": checksum,
        },
        ExpiresIn=seconds,
    )


def download_url(key: str, name: str, media_type: str, seconds: int) -> str:
    """Return an address from which a browser saves the file. Showing it would run its content on the bucket's
    domain."""
    return clients.s3_addresses().generate_presigned_url(
        "get_object",
        Params={
            "Bucket": settings().bucket_name,
            "Key": key,
            "ResponseContentType": media_type,
            "ResponseContentDisposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}",
        },
        ExpiresIn=seconds,
    )


def delete(key: str) -> None:
    """Delete a document in all its versions, if it exists."""
    delete_prefix(key)


def delete_prefix(prefix: str, has_time: Callable[[], bool] = lambda: True) -> bool:
    """Delete all documents below `prefix` in all their versions, while `has_time` allows. Return whether none is left.
    The template's bucket is not versioned: each document then has one version, `null`. Where an operator has switched
    versioning on, deleting without a version would only hide the document."""
    client, bucket = clients.s3(), settings().bucket_name
    for page in client.get_paginator("list_object_versions").paginate(Bucket=bucket, Prefix=prefix):
        versions = [*page.get("Versions", []), *page.get("DeleteMarkers", [])]
        objects: list[Any] = [{"Key": each["Key"], "VersionId": each["VersionId"]} for each in versions]
        if objects and not has_time():
            return False
        if objects:
            response = client.delete_objects(Bucket=bucket, Delete={"Objects": objects, "Quiet": True})
            if errors := response.get("Errors"):
                raise RetryableError(f"{len(errors)} objects could not be deleted: {errors[0].get('Code')}")
    return True


def list_keys(prefix: str) -> Iterator[str]:
    pages = clients.s3().get_paginator("list_objects_v2").paginate(Bucket=settings().bucket_name, Prefix=prefix)
    for page in pages:
        yield from (each["Key"] for each in page.get("Contents", []))
