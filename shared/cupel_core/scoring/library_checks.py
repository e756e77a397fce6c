"""Checks that need a library which loads slowly.

A helper of the sandbox imports this module, and with it the libraries, before it limits the time of a check.
"""

from cupel_core.scoring import html_documents, schemas
from cupel_core.scoring.checks import compute

__all__ = ["compute", "html_documents", "schemas"]
