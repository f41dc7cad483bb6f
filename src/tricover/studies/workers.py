"""The same work on this machine or on a Dask cluster: a function, and what it is called with, one after another."""

import os
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from tricover.errors import ClusterError
from tricover.studies.cluster import import_distributed, lost_errors

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["each_of"]

Result = TypeVar("Result")


def each_of(
    client: "Client | None", function: Callable[..., Result], given: Sequence[tuple[Any, ...]]
) -> Iterator[tuple[int, Result]]:
    """Results of ``function(*each)`` with their places, as they come; without a client one by one, here.

    Work that is lost with a worker is done again by another. When the scheduler is lost, or work kills one worker after
    another, that is an error: what was done is in the folder of the run.
    """
    if client is None:
        for place, each in enumerate(given):
            yield place, function(*each)
        return
    engine: Any = client
    distributed = import_distributed()
    futures = {
        engine.submit(_as_a_worker, function, *each, pure=False, retries=2): place for place, each in enumerate(given)
    }
    try:
        for future in distributed.as_completed(list(futures), loop=engine.loop):
            yield futures[future], future.result()
    except distributed.KilledWorker:
        raise ClusterError(
            "workers died, one after another, of the same piece of work: give them more memory, or make parts smaller; "
            "the same call goes on where this one was"
        ) from None
    except lost_errors():
        raise ClusterError("the scheduler is gone: start it, and the same call goes on where this one was") from None
    finally:
        if engine.status == "running":
            engine.cancel(list(futures))


def _as_a_worker(function: Callable[..., Result], *given: Any) -> Result:
    """Call a function with as many threads as the worker has."""
    threads = import_distributed().get_worker().state.nthreads
    os.environ["TRICOVER_THREADS"] = str(threads)
    return function(*given)
