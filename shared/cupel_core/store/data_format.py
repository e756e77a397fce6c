"""The number of the format in which a stack stores items and objects. `cupel up` refuses data with another number."""

DATA_FORMAT = 2
"""Raise it with every change after which stored items or objects have other names, keys or shapes."""
