"""A site of somebody else on this machine, whose pages attack an address, and a server that answers everybody."""

import base64
import io
import json
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from playwright.sync_api import Page

PAGES = Path(__file__).parent / "attacks"
OPEN = b'{"open": true}'
_CORS = {f"Access-Control-Allow-{name}": "*" for name in ("Origin", "Methods", "Headers")}


class Attacker:
    """Its functions write a file each to `marks` when they are called."""

    def __init__(self, port: int, marks: Path) -> None:
        self.origin = f"http://localhost:{port}"
        self.marks = marks

    def attempts(self, page: Page, name: str, target: str, api: str) -> dict[str, Any]:
        """Open one of its pages in a browser; what the page saw of each attempt."""
        page.goto(f"{self.origin}/{name}.html?{urlencode({'b': target, 'api': api})}")
        page.wait_for_function("document.title === 'done'", timeout=120_000)
        attempts: dict[str, Any] = page.evaluate("attempts")
        print(f"{name}: {json.dumps(attempts)}")
        return attempts


@contextmanager
def attacking_site(marks: Path) -> Iterator[Attacker]:
    class Site(_Quiet):
        def do_GET(self) -> None:
            url = urlsplit(self.path)
            if url.path == "/zip":
                self.answer("text/plain", _zip_of_a_function(marks / parse_qs(url.query)["name"][0]))
            elif (PAGES / url.path.removeprefix("/")).is_file():
                self.answer("text/html", (PAGES / url.path.removeprefix("/")).read_bytes())
            else:
                self.answer("text/html", b"<title>nothing</title>")

    with _serving(Site) as port:
        yield Attacker(port, marks)


@contextmanager
def open_server() -> Iterator[tuple[str, list[str]]]:
    """A control plane like the emulator's own, which answers everybody; its address and what it was asked."""
    asked: list[str] = []

    class Open(_Quiet):
        def _take(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
            asked.append(f"{self.command} {self.path} {self.headers.get('X-Amz-Target', '')} {body}")
            if "text/event-stream" in self.headers.get("Accept", ""):
                self.answer("text/event-stream", b"data: 1\n\n", _CORS)
            elif self.headers.get("Sec-Fetch-Dest") == "script":
                self.answer("text/javascript", b"1", _CORS)
            else:
                self.answer("application/json", OPEN, _CORS)

        do_GET = do_POST = do_PUT = do_OPTIONS = _take  # noqa: N815 - named by the base class

    with _serving(Open) as port:
        yield f"http://127.0.0.1:{port}", asked


class _Quiet(BaseHTTPRequestHandler):
    def answer(self, content_type: str, content: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(200)
        for name, value in {"Content-Type": content_type, **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        """Nothing is printed."""


@contextmanager
def _serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[int]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()


def _zip_of_a_function(mark: Path) -> bytes:
    """The Base64 of a function that leaves a mark."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("x.py", f"def h(event, context):\n    open({str(mark)!r}, 'w').close()\n")
    return base64.b64encode(content.getvalue())
