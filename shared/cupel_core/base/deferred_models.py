"""Provides the base of pydantic models that are built when they are first used, because most processes use few of
them."""

import threading
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict

_building = threading.RLock()


class DeferredModel(BaseModel):
    """Lets several threads use a model for the first time at once.

    Pydantic before 2.14 may then use the validator of the base class, which knows no fields, so that values are lost
    without an error (https://github.com/pydantic/pydantic/pull/13438). Here, one thread at a time builds models.
    """

    model_config = ConfigDict(defer_build=True)

    @classmethod
    def model_rebuild(
        cls,
        *,
        force: bool = False,
        raise_errors: bool = True,
        _parent_namespace_depth: int = 2,
        _types_namespace: Mapping[str, Any] | None = None,
    ) -> bool | None:
        # This method is one more frame between pydantic and the caller whose names it may read; 0 means no caller.
        depth = _parent_namespace_depth + 1 if _parent_namespace_depth > 0 else 0
        with _building:
            return super().model_rebuild(
                force=force,
                raise_errors=raise_errors,
                _parent_namespace_depth=depth,
                _types_namespace=_types_namespace,
            )
