# SPDX-License-Identifier: Apache-2.0
"""Functions that Dask calls in a worker's process."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any, Optional, Sequence

from .. import __version__
from .._devices import describe_device, set_threads
from .._nibabel import import_nibabel
from .._simpleitk import import_simpleitk
from .._start import start_device
from .claims import Claim, claim_device
from .errors import WorkerError
from .pipeline import PLACES, Job, Outcome, Pipeline, WorkerInfo, wait_for_writers

_SWITCH_INTERVAL = 5e-4
# Seconds to wait at a cohort's end for files that are being written.
_WRITING_TIMEOUT = 20


@dataclass(frozen=True)
class Setup:
    """Holds the settings that a cohort gives to its workers.

    Attributes:
        cohort: an identifier that no other cohort has.
        version: the version of the package that runs the cohort.
        devices: the devices of the workers 0, 1, …; None: each process claims one.
        threads: the host's threads for each worker; 0: as many as there are.
    """

    cohort: str
    version: str
    devices: Optional[Sequence[str]]
    threads: int


#: Cohorts that have ended. A process may serve several cohorts at once.
_ended: set[str] = set()
_lock = threading.Lock()


async def start(setup: Setup, dask_worker: Any) -> WorkerInfo:
    """Starts the worker's device, unless it has been started, and describes the worker. Dask fills dask_worker in.

    Raises:
        DeviceError: there is no such device.
        WorkerError: the worker has another version of this package.
    """
    return (await asyncio.to_thread(_serve, setup, dask_worker)).worker


def run(job: Job, setup: Setup) -> Outcome:
    """Registers one pair. Dask calls it in several threads at once.

    Raises:
        DeviceError, WorkerError: as start() does, in a process that takes the place of one that ended.
    """
    from distributed import get_worker, secede

    dask_worker = get_worker()
    pipeline = _serve(setup, dask_worker)
    if dask_worker.state.nthreads < PLACES:
        # The thread mostly waits: it leaves its place among the worker's threads to the next pair.
        secede()
    return pipeline.run(job, lambda: setup.cohort in _ended)


async def stop(setup: Setup) -> None:
    """Ends a cohort in this process: pairs go no further than to the end of the part that they are at. Returns when none writes any more,
    so that the folder may be removed, or after 20 s."""
    _ended.add(setup.cohort)
    await asyncio.to_thread(wait_for_writers, _WRITING_TIMEOUT)


def _serve(setup: Setup, dask_worker: Any) -> Pipeline:
    if setup.version != __version__:
        raise WorkerError(f"it has gpuregistration {__version__}, and the cohort's is {setup.version}: install the same")
    name = str(dask_worker.name)
    # One thread starts the device, and the others wait for it.
    with _lock:
        device = None if setup.devices is None else setup.devices[int(name)]
        return _start(device, setup.threads, name, dask_worker.address)


def _import_nifti() -> None:
    """Imports what reads and writes NIfTI, and what runs pairs, which takes 0.15 to 0.3 s."""
    # Nothing else needs nibabel: reading NIfTI reports that it is missing.
    with suppress(ImportError):
        import_nibabel()
    for name in ("_nifti", "_nifti_write", "cohort.pair"):
        import_module(f"{__package__.rpartition('.')[0]}.{name}")


@lru_cache(maxsize=None)
def _start(named: Optional[str], threads: int, name: str, address: str) -> Pipeline:
    set_threads(threads)
    # The thread that registers asks for Python's lock at each iteration: others give it up sooner than after 5 ms.
    sys.setswitchinterval(_SWITCH_INTERVAL)
    claim = claim_device() if named is None else Claim(named)
    if claim.warning:
        logging.getLogger("distributed.worker").warning("gpuregistration: %s", claim.warning)
    # The first pair would wait for these.
    start_device(claim.device)
    import_simpleitk()
    _import_nifti()
    found = describe_device(claim.device)
    return Pipeline(found, WorkerInfo(name, address, os.getpid(), socket.gethostname(), claim.device, found.description, claim.warning))
