import hashlib
import json


def digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=_plain).encode()).hexdigest()


def _plain(value: object) -> object:
    return sorted(value, key=str) if isinstance(value, set | frozenset) else str(value)
