"""The OpenAPI document as the API serves it, compressed.

`python -m tools.generate` writes it to shared/cupel_core/interfaces/openapi.json.gz.
"""

import gzip

import orjson

from cupel_core.interfaces.openapi import document


def render() -> bytes:
    return gzip.compress(orjson.dumps(document()), mtime=0)
