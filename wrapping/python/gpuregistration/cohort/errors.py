# SPDX-License-Identifier: Apache-2.0
"""The error that ends a whole cohort."""

from .._engine import Error


class WorkerError(Error):
    """No worker can work: its device does not start, its version is another one, or the scheduler does not answer."""
