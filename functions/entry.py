"""Resolves `entry.<function>`, which Lambda and the embedded cloud call, to the handler of `<function>/app.py`.

One place sets the garbage collector for every function, because its defaults suit neither a cold start nor a worker:

- During the import it is off: nothing imported becomes garbage, and searching for it takes a twentieth of the import.
- Afterwards everything imported, some 200,000 objects that live as long as the process, is exempt from every search.
- Most objects of a request are freed at once, when their last reference goes. Garbage in cycles, such as an error and
  its traceback, is searched for after `MAX_YOUNG_OBJECTS` more objects were created than freed instead of 2,000. So at
  most about that many objects wait to be freed: a few MB.
"""

import gc
from collections.abc import Callable
from importlib import import_module
from typing import Any

MAX_YOUNG_OBJECTS = 20_000


def __getattr__(function: str) -> Callable[..., Any]:
    if function.startswith("_"):
        raise AttributeError(function)
    gc.disable()
    try:
        handler: Callable[..., Any] = import_module(f"{function}.app").handler
        gc.freeze()
    finally:
        gc.set_threshold(MAX_YOUNG_OBJECTS, *gc.get_threshold()[1:])
        gc.enable()
    return handler
