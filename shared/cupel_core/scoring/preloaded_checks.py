"""Provides `checks.compute`, with the libraries for HTML and JSON Schema imported.

A helper of the sandbox imports the module of its task before it limits the time, so loading them does not count.
"""

from cupel_core.scoring import html_documents, schemas
from cupel_core.scoring.checks import compute

__all__ = ["compute", "html_documents", "schemas"]
