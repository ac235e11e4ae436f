# SPDX-License-Identifier: Apache-2.0
"""Connects to Dask's workers: starts some on this machine, or takes those of an existing scheduler."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import signal
import tempfile
import threading
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import resource_tracker
from typing import Any, Iterator, Optional, Sequence

from .._checks import read_whole
from .._devices import choose_device, find_gpus
from .._engine import BadInputError
from .errors import WorkerError
from .pipeline import PLACES

# Threads that a registration on the host uses well: with more cores there are more workers.
_HOST_THREADS = 4
# Seconds to wait for a scheduler, for its end, and for a worker's end before it is killed.
_TIMEOUT = 30
_END_TIMEOUT = 5
_KILL_TIMEOUT = 1
# Dask gives up a worker that is not there so long after it ended: by default 15 s, when it may just be starting again after another end.
_LOST = {"distributed.deploy.lost-worker-timeout": "365 days"}


@dataclass(frozen=True)
class Plan:
    """Lists the workers to start on this machine.

    Attributes:
        devices: the name of each worker's device.
        threads: how many threads of the host each worker uses.
    """

    devices: list[str]
    threads: int


def plan_workers(names: Optional[Sequence[Any]], workers_per_device: Optional[int], scheduler: Optional[str] = None) -> Optional[Plan]:
    """Chooses the workers to start on this machine. Returns None if a scheduler has workers.

    Args:
        names: the devices' names; None: all GPUs, or else the host.
        workers_per_device: how many workers share a device; None: one, and on the host one for every four cores.
        scheduler: the address of a scheduler, whose workers do the work; None: they are started here.

    Raises:
        DeviceError: there is no such device.
        BadInputError: there is no device, one is named twice, workers_per_device is below 1, or there is a scheduler beside these.
    """
    if scheduler is not None:
        if names is not None or workers_per_device is not None:
            raise BadInputError(
                "devices= and workers_per_device= are for workers that are started here: with a scheduler set each one's ITK_GPU_DEVICE."
            )
        return None
    chosen = [choose_device(name) for name in names] if names is not None else find_gpus() or ["host"]
    if not chosen:
        raise BadInputError("There is no device in the list of devices: name some, such as cuda:0.")
    if len(set(chosen)) < len(chosen):
        raise BadInputError(f"A device is named twice in {', '.join(chosen)}: ask for more workers per device instead.")
    if workers_per_device is not None:
        read_whole("workers_per_device", workers_per_device, 1)
    cores = len(os.sched_getaffinity(0))
    counts = [workers_per_device or (max(1, cores // _HOST_THREADS) if name == "host" else 1) for name in chosen]
    # The workers of the first device come first.
    workers = [name for name, count in zip(chosen, counts) for _ in range(count)]
    return Plan(workers, max(1, cores // len(workers)))


def import_distributed() -> Any:
    """Imports Dask's distributed. Raises ImportError, which says what to install."""
    try:
        import distributed
    except ImportError as error:
        raise ImportError("this needs Dask: pip install 'gpuregistration[cohort]'") from error
    return distributed


@contextmanager
def local_client(plan: Plan) -> Iterator[Any]:
    """Starts workers, each a process, and yields their client; ends them behind it. Their names are 0, 1, …, in the plan's order.

    Raises:
        WorkerError: they cannot be started.
    """
    distributed = import_distributed()
    from dask import config

    # Dask's own messages would hide the cohort's errors, which also say that a worker has ended.
    with _logging_at(logging.CRITICAL), config.set(_LOST):
        folder = tempfile.mkdtemp(prefix="gpureg-")
        cluster = None
        at_once = True
        try:
            with _interruption_blocked():
                cluster = _start_cluster(distributed, len(plan.devices), folder)
            client = distributed.Client(cluster, timeout=_TIMEOUT, set_as_default=False)
            try:
                yield client
                at_once = False
            finally:
                client.close(timeout=_END_TIMEOUT)
        finally:
            if cluster is not None:
                cluster.sync(_end_workers, list(cluster.workers.values()), at_once)
                cluster.close(timeout=_END_TIMEOUT)
            shutil.rmtree(folder, ignore_errors=True)


def _start_cluster(distributed: Any, workers: int, folder: str) -> Any:
    try:
        return distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=PLACES,
            processes=True,
            # The device's driver maps more than is used, and Dask would end workers for it.
            memory_limit=0,
            # Without an address Dask takes its usual port, or warns that it is taken.
            dashboard_address="127.0.0.1:0",
            # A pair whose worker ends is given back, and not handed to the next worker: see schedule.py.
            scheduler_kwargs={"dashboard": False, "allowed_failures": 0},
            local_directory=folder,
            silence_logs=logging.CRITICAL,
        )
    except RuntimeError as error:
        raise WorkerError(
            f"Workers cannot be started: {error} They are processes that read the program's file again: call this in a "
            'file, under if __name__ == "__main__":'
        ) from error


async def _end_workers(nannies: list[Any], at_once: bool) -> None:
    processes = [nanny.pid for nanny in nannies]
    ending = asyncio.gather(*(nanny.close(timeout=_KILL_TIMEOUT) for nanny in nannies), return_exceptions=True)
    if at_once:
        # The nannies must know first, or they would start the workers again.
        await asyncio.sleep(0)
        for process in filter(None, processes):
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
    await ending


@contextmanager
def existing_client(address: str) -> Iterator[Any]:
    """Yields a client of an existing scheduler, which keeps running.

    Raises:
        WorkerError: it does not answer.
    """
    distributed = import_distributed()
    with _logging_at(logging.CRITICAL):
        try:
            client = distributed.Client(address, timeout=_TIMEOUT, set_as_default=False)
        except (OSError, ValueError) as error:
            raise WorkerError(f"The scheduler {address} does not answer: {error}. Is it running, and reached from here?") from error
        try:
            yield client
        finally:
            client.close(timeout=_END_TIMEOUT)


@contextmanager
def _interruption_blocked() -> Iterator[None]:
    """Blocks Ctrl-C in the threads and processes that are started inside, and in those that they start. A terminal sends Ctrl-C to all
    processes of a command, and workers must be ended by the process that started them. This process gets the signal at the end, so that
    nothing is half started."""
    # The tracker would unblock the signal if it were started inside.
    resource_tracker.ensure_running()
    came: list[int] = []
    # The signal may reach a thread that does not block it: Python then calls its handler in the main thread.
    is_main = threading.current_thread() is threading.main_thread()
    numbers = (signal.SIGINT, signal.SIGTERM) if is_main else ()
    handlers = {number: signal.signal(number, lambda number, _: came.append(number)) for number in numbers}
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for number, handler in handlers.items():
            signal.signal(number, handler)
        if came:
            signal.raise_signal(came[0])


@contextmanager
def _logging_at(level: int) -> Iterator[None]:
    logger = logging.getLogger("distributed")
    before = logger.level
    logger.setLevel(level)
    try:
        yield
    finally:
        logger.setLevel(before)
