"""Makes acknowledged writes of the embedded cloud survive SIGKILL, as an ASGI application around the unpatched
emulator.

It runs in the emulator's own environment (`launcher.py`), so it imports nothing but the standard library; the
emulator's modules are passed in.
"""

CHECKPOINT_PATH = "/_cupel/checkpoint"
FAILURE_MARK = "\ncupel: "
"""In the emulator's log, it precedes the reason why it did not start."""
NOTICE_MARK = "cupel notice: "
"""Begins a line of the emulator's log that `cupel up` shows."""
