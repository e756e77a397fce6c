"""JSON objects as the API gives and takes them."""

from typing import Any

type Json = dict[str, Any]
