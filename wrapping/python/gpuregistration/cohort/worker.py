# SPDX-License-Identifier: Apache-2.0
"""What Dask has a worker's process do."""

from __future__ import annotations

import logging
import socket
import sys
from dataclasses import dataclass
from typing import Optional, Sequence

from .. import __version__
from .._devices import describe_device, set_threads
from .._simpleitk import import_simpleitk
from .._start import start_device
from .claims import Claim, claim_device
from .pair import Job
from .pipeline import Outcome, Pipeline

_SWITCH_INTERVAL = 5e-4
#: By the cohort: workers of a scheduler may serve several at once.
_pipelines: dict[str, Pipeline] = {}


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


def start(setup: Setup) -> WorkerInfo:
    """Starts the worker's device, and its threads.

    Raises:
        DeviceError: there is no such device.
    """
    from distributed import get_worker

    name = get_worker().name
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
    _pipelines[setup.cohort] = Pipeline(found)
    return WorkerInfo(str(name), socket.gethostname(), claim.device, found.description, __version__, claim.warning)


def run(job: Job, setup: Setup) -> Outcome:
    """One pair, among others."""
    from distributed import secede

    if setup.cohort not in _pipelines:
        # This process has taken the place of one that ended.
        start(setup)
    # The thread only waits, and is not to keep others from it, however few a worker has; the pipeline bounds how many come.
    secede()
    return _pipelines[setup.cohort].run(job)


def stop(setup: Setup) -> None:
    """The cohort is over, here. What was handed out, and has not begun, is not done."""
    pipeline = _pipelines.pop(setup.cohort, None)
    if pipeline is not None:
        pipeline.stop()
