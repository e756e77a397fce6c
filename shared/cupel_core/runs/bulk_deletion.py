from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from cupel_core.base.errors import AppError, public_detail
from cupel_core.contract.deletions import DeletionListResponse, DeletionProblemResponse, DeletionResponse
from cupel_core.store.clients import AWS_ERRORS
from cupel_core.store.unexpected_errors import from_unexpected

_THREADS = 8
"""Deletions run in this many threads. A request has 29 s, and deleting the content of a probe takes a dozen AWS
calls."""


def delete_each(ids: Iterable[str], delete: Callable[[str], None]) -> DeletionListResponse:
    with ThreadPoolExecutor(_THREADS) as pool:
        return DeletionListResponse(items=list(pool.map(partial(_delete, delete), dict.fromkeys(ids))))


def _delete(delete: Callable[[str], None], deleted_id: str) -> DeletionResponse:
    try:
        delete(deleted_id)
    except AppError as error:
        return _failed(deleted_id, error)
    except AWS_ERRORS as error:
        return _failed(deleted_id, from_unexpected(error))
    return DeletionResponse(id=deleted_id, deleted=True, problem=None)


def _failed(deleted_id: str, error: AppError) -> DeletionResponse:
    problem = DeletionProblemResponse(status=error.status, title=error.title, detail=public_detail(error))
    return DeletionResponse(id=deleted_id, deleted=False, problem=problem)
