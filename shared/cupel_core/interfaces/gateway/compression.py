import base64
import gzip
from typing import Any

from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEventV2

MIN_BYTES = 1_024
"""A smaller body fits into one or two network packets anyway."""
_LEVEL = 4
"""Level 6 takes up to five times as long for JSON, and saves a tenth more."""


def compress(request: APIGatewayProxyEventV2, response: dict[str, Any]) -> dict[str, Any]:
    """Return the response as Lambda sends it, compressed if the client accepts that and it becomes smaller.

    API Gateway decodes base64. Lambda's limit of 6 MB applies to the base64 text, which is never longer than the plain
    one, so pages are bounded by their plain size whatever the client accepts.
    """
    headers = {**response["headers"], "Vary": "Origin, Accept-Encoding"}
    response = {**response, "headers": headers}
    body = response["body"].encode()
    if len(body) < MIN_BYTES or not accepts_gzip(request.headers.get("accept-encoding", "")):
        return response
    encoded = base64.b64encode(gzip.compress(body, _LEVEL, mtime=0)).decode()
    if len(encoded) >= len(body):
        return response
    return {**response, "headers": headers | {"Content-Encoding": "gzip"}, "body": encoded, "isBase64Encoded": True}


def accepts_gzip(header: str) -> bool:
    weights = dict(_weighted(coding) for coding in header.lower().split(","))
    return weights.get("gzip", weights.get("x-gzip", weights.get("*", 0.0))) > 0


def _weighted(coding: str) -> tuple[str, float]:
    name, _, parameter = coding.partition(";")
    weight = parameter.strip().removeprefix("q=")
    try:
        return name.strip(), float(weight) if parameter else 1.0
    except ValueError:
        return name.strip(), 0.0
