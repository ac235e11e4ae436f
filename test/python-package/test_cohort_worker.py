# SPDX-License-Identifier: Apache-2.0
"""What a scheduler's workers do that serve from several threads."""

import gc
import threading
from types import SimpleNamespace

import distributed
import pytest
from gpuregistration._devices import Device
from gpuregistration.cohort import worker
from gpuregistration.cohort.claims import Claim

THREADS = 8


class CountedPipeline:
    """In the place of a device's threads."""

    made = []
    ran = []

    def __init__(self, device):
        self.made.append(device.name)

    def run(self, job, is_over):
        self.ran.append((job, self))
        return job if not is_over.is_set() else None


@pytest.fixture
def names(monkeypatch):
    """The names of threads' workers; those that are not there are 0. Devices start so slowly that all threads wait for them."""
    found = {}
    monkeypatch.setattr(distributed, "get_worker", lambda: SimpleNamespace(name=found.get(threading.get_ident(), 0)))
    monkeypatch.setattr(distributed, "secede", lambda: None)
    monkeypatch.setattr(worker, "Pipeline", CountedPipeline)
    monkeypatch.setattr(worker, "start_device", lambda name: threading.Event().wait(0.05))
    monkeypatch.setattr(worker, "describe_device", lambda name: Device(name, "cuda", "A GPU", 0))
    monkeypatch.setattr(worker, "claim_device", lambda: Claim("cuda:0"))
    monkeypatch.setattr(worker, "set_threads", lambda count: None)
    CountedPipeline.made.clear()
    CountedPipeline.ran.clear()
    yield found
    for cohort in {cohort for cohort, _ in worker._services}:
        worker.stop(worker.Setup(cohort, None, 1))


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


def test_threads_that_begin_together_have_one_pipeline(names):
    setup = worker.Setup("a", None, 1)
    assert at_once(THREADS, lambda n: worker.run(n, setup)) == list(range(THREADS))
    assert CountedPipeline.made == ["cuda:0"]
    assert len({pipeline for _, pipeline in CountedPipeline.ran}) == 1


def test_starts_that_come_together_say_the_same(names):
    setup = worker.Setup("b", None, 1)
    infos = at_once(THREADS, lambda n: worker.start(setup))
    assert all(info is infos[0] for info in infos)
    assert infos[0].device == "cuda:0"
    assert CountedPipeline.made == ["cuda:0"]


def test_workers_and_cohorts_of_a_process_share_their_device(names):
    def run(n):
        names[threading.get_ident()] = n % 2
        return worker.run(n, worker.Setup(f"c{n // 4}", None, 1))

    assert at_once(THREADS, run) == list(range(THREADS))
    assert CountedPipeline.made == ["cuda:0"]


def test_each_device_has_its_own(names):
    setup = worker.Setup("d", ["cuda:0", "cuda:1"], 1)

    def run(n):
        names[threading.get_ident()] = n % 2
        return worker.run(n, setup)

    at_once(THREADS, run)
    assert sorted(CountedPipeline.made) == ["cuda:0", "cuda:1"]


def test_a_cohort_that_is_over_begins_no_more_and_leaves_others_alone(names):
    one, other = worker.Setup("e", None, 1), worker.Setup("f", None, 1)
    assert worker.run(1, one) == 1
    assert worker.run(2, other) == 2
    service = worker._services["e", "0"]
    worker.stop(one)
    assert service.is_over.is_set()
    assert all(isinstance(late, RuntimeError) for late in at_once(THREADS, lambda n: worker.run(n, one)))
    assert worker.run(3, other) == 3
    worker.stop(other)
    assert worker._services == {}
    CountedPipeline.ran.clear()
    del service
    gc.collect()
    assert dict(worker._pipelines) == {}
