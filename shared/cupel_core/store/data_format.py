"""The format of what a stack stores, by which `cupel up` recognises data that this build cannot read."""

DATA_FORMAT = 1
"""Raise it with every change after which stored items or objects have other names, keys or shapes."""
