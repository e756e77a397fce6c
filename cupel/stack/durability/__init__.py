"""What the embedded cloud acknowledges survives SIGKILL: an ASGI application around the unpatched emulator.

Runs in the emulator's own environment (`launcher.py`), so it imports nothing but the standard library; the emulator's
modules are handed in.
"""

CHECKPOINT_PATH = "/_cupel/checkpoint"
"""A request to it stores what a deployment created."""
FAILURE_MARK = "\ncupel: "
"""Precedes, in the emulator's log, the reason why it did not start."""
NOTICE_MARK = "cupel notice: "
"""Begins a line of the emulator's log that `cupel up` shows."""
