"""Controls access to the embedded cloud: pages get the API and presigned objects, others only with the access key.

It runs in the emulator's own environment, too (`durability/launcher.py`), so it imports nothing but the standard
library.
"""
