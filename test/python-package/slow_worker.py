# SPDX-License-Identifier: Apache-2.0
"""Dask's workers of tests import this (conftest.py). A worker that has not ended after SECONDS writes what each of its threads does."""

import faulthandler
import os
from pathlib import Path

#: Less than the 300 seconds after which Dask's scheduler gives up a worker that is silent.
SECONDS = 200

_file = (Path(os.environ["GPUREG_TEST_TRACES"]) / f"worker-{os.getpid()}.txt").open("w")
faulthandler.dump_traceback_later(float(os.environ.get("GPUREG_TEST_TRACE_SECONDS", SECONDS)), file=_file)


def dask_teardown(worker):
    """Ends the wait. Dask calls it when the worker ends."""
    faulthandler.cancel_dump_traceback_later()
