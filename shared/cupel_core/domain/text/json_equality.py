"""Compares JSON values: unlike in Python, true is not 1; as in JavaScript, 1 is 1.0."""


def is_same_json(first: object, second: object) -> bool:
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(is_same_json(first[name], second[name]) for name in first)
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(map(is_same_json, first, second))
    return isinstance(first, bool) is isinstance(second, bool) and first == second
