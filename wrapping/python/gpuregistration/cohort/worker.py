# SPDX-License-Identifier: Apache-2.0
"""What Dask has a worker's process do."""

from __future__ import annotations

import logging
import socket
import sys
import threading
from dataclasses import dataclass, field
from typing import Optional, Sequence
from weakref import WeakValueDictionary

from .. import __version__
from .._devices import describe_device, set_threads
from .._simpleitk import import_simpleitk
from .._start import start_device
from .claims import Claim, claim_device
from .pair import Job
from .pipeline import Outcome, Pipeline

_SWITCH_INTERVAL = 5e-4

@dataclass(frozen=True)
class Setup:
    """What all workers of a cohort are told.

    Attributes:
        cohort: what tells it from others that the same workers serve.
        devices: of the workers 0, 1, …; None: what each process takes for itself.
        threads: of the host, for each worker; 0: as many as there are.
    """

    cohort: str
    devices: Optional[Sequence[str]]
    threads: int


@dataclass(frozen=True)
class WorkerInfo:
    """Who a worker is.

    Attributes:
        name: the scheduler's for it.
        host: the machine's name.
        device: that it computes on, and what that is.
        version: of this package.
        warning: of that device; "" if there is none.
    """

    name: str
    host: str
    device: str
    description: str
    version: str
    warning: str = ""


@dataclass(frozen=True)
class _Service:
    """What a worker does for a cohort.

    Attributes:
        is_over: set when the cohort is.
    """

    info: WorkerInfo
    pipeline: Pipeline
    is_over: threading.Event = field(default_factory=threading.Event)


#: By cohort and worker. A process may have several workers, and each may serve several cohorts, from several threads.
_services: dict[tuple[str, str], _Service] = {}
#: By device: one in a process, for as long as anyone uses it, so that one pair at a time computes there.
_pipelines: WeakValueDictionary[str, Pipeline] = WeakValueDictionary()
#: Cohorts that are served no more.
_over: set[str] = set()
_lock = threading.Lock()


def start(setup: Setup) -> WorkerInfo:
    """Starts the worker's device, and its threads. A second time it says the same, and starts nothing.

    Raises:
        DeviceError: there is no such device.
    """
    return _serve(setup).info


def run(job: Job, setup: Setup) -> Outcome:
    """One pair, among others."""
    from distributed import secede

    # This process may have taken the place of one that ended.
    service = _serve(setup)
    # The thread only waits, and is not to keep others from it, however few a worker has; the pipeline bounds how many come.
    secede()
    return service.pipeline.run(job, service.is_over)


def stop(setup: Setup) -> None:
    """The cohort is over, for all workers of the process. What was handed out, and has not begun, is not done."""
    with _lock:
        _over.add(setup.cohort)
        for key in [key for key in _services if key[0] == setup.cohort]:
            _services.pop(key).is_over.set()


def _serve(setup: Setup) -> _Service:
    """What this thread's worker does for a cohort, which begins where it has not."""
    from distributed import get_worker

    name = str(get_worker().name)
    with _lock:
        if setup.cohort in _over:
            raise RuntimeError("The cohort has been ended.")
        key = (setup.cohort, name)
        if key not in _services:
            _services[key] = _begin(setup, name)
        return _services[key]


def _begin(setup: Setup, name: str) -> _Service:
    set_threads(setup.threads)
    # The thread that registers asks for Python's lock at each iteration: others give it up sooner than after 5 ms.
    sys.setswitchinterval(_SWITCH_INTERVAL)
    claim = claim_device() if setup.devices is None else Claim(setup.devices[int(name)])
    if claim.warning:
        logging.getLogger("distributed.worker").warning("gpuregistration: %s", claim.warning)
    # What the first pair would wait for.
    start_device(claim.device)
    import_simpleitk()
    found = describe_device(claim.device)
    pipeline = _pipelines.get(claim.device)
    if pipeline is None:
        pipeline = _pipelines[claim.device] = Pipeline(found)
    info = WorkerInfo(name, socket.gethostname(), claim.device, found.description, __version__, claim.warning)
    return _Service(info, pipeline)
