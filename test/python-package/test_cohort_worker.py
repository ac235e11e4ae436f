# SPDX-License-Identifier: Apache-2.0
"""Tests what a worker's process does that serves from several threads."""

import asyncio
import threading
from types import SimpleNamespace

import distributed
import gpuregistration as gr
import pytest
from gpuregistration._devices import Device
from gpuregistration.cohort import WorkerError, pipeline, worker
from gpuregistration.cohort.claims import Claim

THREADS = 8


@pytest.fixture
def starts(monkeypatch):
    """The names of the devices that were started, so slowly that all threads wait for them. A pair's work is to wait a moment."""
    names = []

    def start(name):
        names.append(name)
        threading.Event().wait(0.05)

    monkeypatch.setattr(distributed, "get_worker", lambda: SimpleNamespace(name="a name", address="tcp://here:1", state=SimpleNamespace(nthreads=1)))
    monkeypatch.setattr(distributed, "secede", lambda: None)
    monkeypatch.setattr(worker, "start_device", start)
    monkeypatch.setattr(worker, "describe_device", lambda name: Device(name, "cuda", "A GPU", 0))
    monkeypatch.setattr(worker, "claim_device", lambda: Claim("cuda:0"))
    monkeypatch.setattr(worker, "set_threads", lambda count: None)
    monkeypatch.setattr(worker, "_ended", set())
    worker._start.cache_clear()
    yield names
    worker._start.cache_clear()


def setup_of(cohort, version=gr.__version__, devices=None):
    return worker.Setup(cohort, version, devices, 1)


def job_of(n, parts=None):
    """Returns a job whose work is that of Parts."""
    parts = parts or Parts()
    return SimpleNamespace(id=f"pair-{n}", read=parts.read, compute=parts.compute, write=parts.write)


def at_once(count, work):
    """Has so many threads do work(n), all of which begin together. Returns what it returns or raises."""
    barrier = threading.Barrier(count)
    results = [None] * count

    def go(n):
        barrier.wait()
        try:
            results[n] = work(n)
        except Exception as error:
            results[n] = error

    threads = [threading.Thread(target=go, args=(n,)) for n in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


class Parts:
    """Stands for the parts of a pair's work, and counts how many of each are done at a time."""

    def __init__(self):
        self._lock = threading.Lock()
        self._now = {}
        self.most = {}

    def read(self):
        return self._do("read")

    def compute(self, inputs, device):
        return self._do("compute")

    def write(self, inputs, found, device, times):
        return self._do("write")

    def _do(self, name):
        with self._lock:
            self._now[name] = self._now.get(name, 0) + 1
            self.most[name] = max(self.most.get(name, 0), self._now[name])
        threading.Event().wait(0.02)
        with self._lock:
            self._now[name] -= 1
        return {"part": name}


def test_threads_that_begin_together_start_one_device(starts):
    parts = Parts()
    outcomes = at_once(3 * THREADS, lambda n: worker.run(job_of(n, parts), setup_of(f"cohort-{n % 2}")))
    assert [outcome.id for outcome in outcomes] == [f"pair-{n}" for n in range(3 * THREADS)]
    assert not any(outcome.failed for outcome in outcomes)
    assert starts == ["cuda:0"]
    assert parts.most["compute"] == 1 and 1 <= parts.most["read"] <= pipeline.AHEAD and 1 <= parts.most["write"] <= pipeline.BEHIND


def test_starts_that_come_together_say_the_same(starts):
    dask_worker = SimpleNamespace(name="a name", address="tcp://here:1")
    infos = at_once(THREADS, lambda n: asyncio.run(worker.start(setup_of("one"), dask_worker)))
    assert all(info is infos[0] for info in infos)
    assert infos[0].device == "cuda:0" and infos[0].name == "a name" and infos[0].address == "tcp://here:1"
    assert starts == ["cuda:0"]


def test_the_device_of_a_numbered_worker(starts):
    dask_worker = SimpleNamespace(name=1, address="tcp://here:1")
    assert asyncio.run(worker.start(setup_of("one", devices=["cuda:0", "cuda:1"]), dask_worker)).device == "cuda:1"


def test_a_device_that_does_not_start(starts, monkeypatch):
    def fail(name):
        raise gr.DeviceError("it is broken")

    monkeypatch.setattr(worker, "start_device", fail)
    errors = at_once(2, lambda n: worker.run(job_of(n), setup_of("one")))
    assert [str(error) for error in errors] == ["it is broken"] * 2


def test_another_version(starts):
    with pytest.raises(WorkerError, match=f"it has gpuregistration {gr.__version__}, and the cohort's is 0.0.1: install the same"):
        worker.run(job_of(1), setup_of("one", "0.0.1"))
    assert starts == []


def test_a_cohort_that_has_ended_begins_no_more_and_leaves_others_alone(starts):
    one, other = setup_of("one"), setup_of("other")
    assert not worker.run(job_of(1), one).failed
    asyncio.run(worker.stop(one))
    late = at_once(THREADS, lambda n: worker.run(job_of(n), one))
    assert {outcome.error for outcome in late} == {"The cohort has been ended."}
    assert not worker.run(job_of(2), other).failed
