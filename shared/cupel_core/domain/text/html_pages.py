"""Recognizes the pages that proxies and sign-in screens send in place of an answer."""

import re
from html import unescape

_PAGE = re.compile(
    r"\ufeff?\s*(?:<!--.*?-->\s*)*(?:<\?xml[^>]*>\s*)?<(?:!doctype\s+html|html|head|body|title)\b",
    re.IGNORECASE | re.DOTALL,
)
_TITLE = re.compile(r"<title[^>]*>(.*?)</title>|<h1[^>]*>(.*?)</h1>", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"<[^>]*>")
_MAX_TITLE_LENGTH = 100
_SEARCHED_LENGTH = 20_000


def page_title(text: str) -> str | None:
    """Return the title of an HTML page, empty if it has none; None for other texts."""
    beginning = text[:_SEARCHED_LENGTH]
    if _PAGE.match(beginning) is None:
        return None
    found = _TITLE.search(beginning)
    title = unescape(_TAG.sub("", (found.group(1) or found.group(2) or "") if found else ""))
    return " ".join(title.split())[:_MAX_TITLE_LENGTH]


def describe_page(title: str) -> str:
    page = "the server answered with an HTML page"
    return f"{page} (title “{title}”)" if title else page
