# SPDX-License-Identifier: Apache-2.0
"""What Dask has a worker's process do."""

from __future__ import annotations

import socket
import sys
from dataclasses import dataclass
from typing import Optional, Sequence

from .. import __version__
from .._devices import choose_device, devices, set_threads, start_device
from .._simpleitk import import_simpleitk
from .pair import Job
from .pipeline import Outcome, Pipeline

_SWITCH_INTERVAL = 5e-4
_pipeline: Optional[Pipeline] = None


@dataclass(frozen=True)
class WorkerInfo:
    """Who a worker is.

    Attributes:
        name: the scheduler's for it.
        host: the machine's name.
        device: that it computes on, and what that is.
        version: of this package.
    """

    name: str
    host: str
    device: str
    description: str
    version: str


def start(names: Optional[Sequence[str]], threads: int) -> WorkerInfo:
    """Starts the worker's device, and its threads.

    Args:
        names: of the devices of the workers 0, 1, …; None: the process's default device, which ITK_GPU_DEVICE names.
        threads: of the host that it uses; 0: as many as there are.

    Raises:
        DeviceError: there is no such device.
    """
    from distributed import get_worker

    global _pipeline
    name = get_worker().name
    set_threads(threads)
    # The thread that registers asks for Python's lock at each iteration: others give it up sooner than after 5 ms.
    sys.setswitchinterval(_SWITCH_INTERVAL)
    device = choose_device(None if names is None else names[int(name)])
    # What the first pair would wait for.
    start_device(device)
    import_simpleitk()
    found = next(one for one in devices() if one.name == device)
    _pipeline = Pipeline(found)
    return WorkerInfo(str(name), socket.gethostname(), device, found.description, __version__)


def run(job: Job, names: Optional[Sequence[str]], threads: int) -> Outcome:
    """One pair, among others. The rest is as start() takes it, for a process that has taken the place of one that ended."""
    from distributed import secede

    if _pipeline is None:
        start(names, threads)
    # The thread only waits, and is not to keep others from it, however few a worker has; the pipeline bounds how many come.
    secede()
    assert _pipeline is not None
    return _pipeline.run(job)


def stop() -> None:
    """What has been handed out, and has not begun, is not done."""
    if _pipeline is not None:
        _pipeline.stop()
