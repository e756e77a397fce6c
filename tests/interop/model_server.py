"""Serves OpenAI's API in place of a model, whose name says what it answers."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

type Json = dict[str, Any]
type Replies = Mapping[str, Callable[[str], Json]]
"""Each model has a function that makes the message of its answer from the last message that it receives."""


@contextmanager
def serve(replies: Replies) -> Iterator[int]:
    """Serve the models, and yield the port."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(replies))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _handler(replies: Replies) -> type[BaseHTTPRequestHandler]:
    class Model(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            message = {"role": "assistant", **replies[request["model"]](request["messages"][-1]["content"])}
            content = json.dumps(_completion(request["model"], message)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    return Model


def _completion(model: str, message: Json) -> Json:
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    usage = {"prompt_tokens": 5, "completion_tokens": 5, "total_tokens": 10}
    fixed = {"id": "x", "object": "chat.completion", "created": 1}
    return {**fixed, "model": model, "choices": [choice], "usage": usage}
