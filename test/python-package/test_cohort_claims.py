# SPDX-License-Identifier: Apache-2.0
"""Which devices the workers of a scheduler take."""

import errno
import os
import re
import signal
import socket
import subprocess
import sys
import uuid

import cohort_data
import gpuregistration as gr
import pytest
from cohort_data import make_cohort
from gpuregistration._devices import find_hardware_id
from gpuregistration.cohort import claims

# A process that takes a device, of those that are named, says which, and lives until its input ends. Their hardware is given behind the
# names, such as cuda:0=8f2a; without that it is not known.
CLAIMING = r"""
import os, sys
from gpuregistration.cohort import claims
claims.PREFIX = "\0" + os.environ["TEST_CLAIMS"]
hardware = dict(word.partition("=")[::2] for word in sys.argv[1:])
claims.find_gpus = lambda: list(hardware)
claims.find_hardware_id = hardware.get
claim = claims.claim_device()
assert claims.claim_device() is claim
print(claim.device, claim.warning, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def prefix():
    """Begins the names that the workers of a test take, and no other test's."""
    return f"gpuregistration-test-{uuid.uuid4().hex[:8]}-"


@pytest.fixture
def claim(prefix):
    """Starts a process that takes one of two devices; returns it, the device and the warning."""
    processes = []

    def start(*devices, **environment):
        process = subprocess.Popen(
            [sys.executable, "-c", CLAIMING, *devices],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "TEST_CLAIMS": prefix, "ITK_GPU_DEVICE": "", "CUDA_VISIBLE_DEVICES": "", **environment},
        )
        processes.append(process)
        device, _, warning = process.stdout.readline().strip().partition(" ")
        return process, device, warning

    yield start
    for process in processes:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


def test_each_has_its_own(claim):
    assert [claim("cuda:0", "cuda:1")[1:] for _ in range(2)] == [("cuda:0", ""), ("cuda:1", "")]


def test_more_workers_than_devices_are_spread_and_reported(claim):
    taken = [claim("cuda:0", "cuda:1")[1:] for _ in range(5)]
    assert [device for device, _ in taken] == ["cuda:0", "cuda:1", "cuda:0", "cuda:1", "cuda:0"]
    assert taken[2][1].startswith("cuda:0 is shared with another worker, for all devices of this machine have one (cuda:0, cuda:1): ")
    assert taken[4][1].startswith("cuda:0 is shared with 2 other workers")
    assert "ITK_GPU_DEVICE" in taken[3][1]


def test_the_death_of_a_worker_frees_its_device(claim):
    first = claim("cuda:0", "cuda:1")[0]
    assert claim("cuda:0", "cuda:1")[1] == "cuda:1"
    first.send_signal(signal.SIGKILL)
    first.wait()
    assert claim("cuda:0", "cuda:1")[1:] == ("cuda:0", "")


def test_two_gpus_of_one_name(claim):
    """A scheduler may show each job a GPU of its own, as number 0."""
    for gpu in ("8f2a", "71c0"):
        assert claim(f"cuda:0={gpu}", CUDA_VISIBLE_DEVICES="0")[1:] == ("cuda:0", "")


def test_one_gpu_by_two_names(claim):
    """By its number, and by its UUID; and each of two processes counts it otherwise."""
    assert claim("cuda:0=8f2a", CUDA_VISIBLE_DEVICES="1")[1:] == ("cuda:0", "")
    _, device, warning = claim("cuda:0=8f2a", CUDA_VISIBLE_DEVICES="GPU-8f2a")
    assert device == "cuda:0" and warning.startswith("cuda:0 is shared with another worker")
    _, device, warning = claim("cuda:0=71c0", "cuda:1=8f2a")
    assert (device, warning) == ("cuda:0", "")
    _, device, warning = claim("cuda:1=8f2a")
    assert device == "cuda:1" and warning.startswith("cuda:1 is shared with 2 other workers")


def test_one_gpu_by_two_numbers_without_ids(claim):
    """Each of two processes sees one GPU, and calls it cuda:0; a third sees both."""
    for number in "01":
        assert claim("cuda:0", CUDA_VISIBLE_DEVICES=number)[1:] == ("cuda:0", "")
    _, device, warning = claim("cuda:0", "cuda:1")
    assert device == "cuda:0" and "shared" in warning


@pytest.mark.parametrize(
    "visible, called, hardware, name",
    [
        ("0", "cuda:0", "8f2a-71", "cuda-8f2a-71"),
        ("GPU-8f2a", "cuda:0", "8f2a-71", "cuda-8f2a-71"),
        ("", "cuda:1", "", "cuda-1"),
        ("3,5", "cuda:1", "", "cuda-5"),
        ("GPU-8f2a, GPU-71", "cuda:0", "", "cuda-GPU-8f2a"),
        ("MIG-GPU-8f/1/0", "cuda:0", "", "cuda-MIG-GPU-8f/1/0"),
        ("3", "opencl:0", "", "opencl-0"),
    ],
)
def test_names_of_gpus(monkeypatch, visible, called, hardware, name):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    monkeypatch.setattr(claims, "find_hardware_id", lambda device: hardware)
    assert claims._physical_name(called) == name


def test_ids_of_devices():
    """Each of CUDA's devices has its own; the others' are not known."""
    ids = {one.name: find_hardware_id(one.name) for one in gr.devices()}
    cuda = [ids[one.name] for one in gr.devices() if one.kind == "cuda"]
    assert all(re.fullmatch("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", one) for one in cuda)
    assert len(set(cuda)) == len(cuda)
    assert all(ids[one.name] == "" for one in gr.devices() if one.kind != "cuda")
    with pytest.raises(gr.BadInputError, match='there is no device "cuda:77"'):
        find_hardware_id("cuda:77")


def test_the_host_is_shared_without_a_word(claim):
    # The process sees no GPU, whatever this one sees.
    assert [claim()[1:] for _ in range(2)] == [("host", "")] * 2


def test_where_no_name_can_be_taken(monkeypatch):
    """As in a sandbox without local sockets."""

    class Refused(socket.socket):
        def bind(self, address):
            raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(claims.socket, "socket", Refused)
    monkeypatch.setattr(claims, "find_hardware_id", lambda device: "")
    claim = claims._claim_one(["cuda:0", "cuda:1"])
    assert claim.device == "cuda:0" and "Another worker may use cuda:0, too" in claim.warning and "not permitted" in claim.warning


@pytest.mark.skipif(not any(one.kind == "opencl" for one in gr.devices()), reason="no OpenCL device")
def test_workers_of_a_scheduler(tmp_path, monkeypatch, prefix):
    """Three, on a machine of two devices: PoCL's twice."""
    distributed = pytest.importorskip("distributed")
    pytest.importorskip("SimpleITK")
    from gpuregistration.cohort import register_cohort

    monkeypatch.setattr("gpuregistration.cohort.worker.start", cohort_data.start_with_two_devices)
    table = make_cohort(tmp_path, 6)
    environment = {"POCL_DEVICES": "pthread pthread", "TEST_CLAIMS": prefix, "ITK_GPU_DEVICE": ""}
    news = []
    with distributed.LocalCluster(
        n_workers=3, threads_per_worker=1, dashboard_address=None, local_directory=str(tmp_path / "dask"), env=environment
    ) as cluster:
        with distributed.Client(cluster.scheduler_address, set_as_default=False) as client:
            client.wait_for_workers(3)
            result = register_cohort(
                table, tmp_path / "out", scheduler=cluster.scheduler_address, progress=lambda progress: news.append(progress.news)
            )
            taken = client.run(cohort_data.claim_of_process)
    assert not result.failed
    assert sorted(claim.device for claim in taken.values()) in (["opencl:0", "opencl:0", "opencl:1"], ["opencl:0", "opencl:1", "opencl:1"])
    reported = [one for one in news if one]
    assert len(reported) == 1 and reported[0].startswith("The worker ") and "is shared with another worker" in reported[0]
