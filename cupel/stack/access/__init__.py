"""Who may use the embedded cloud: pages only the API and presigned objects, everybody else only with the access key.

Runs in the emulator's own environment, too (`durability/launcher.py`), so it imports nothing but the standard library.
"""
