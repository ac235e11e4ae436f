# SPDX-License-Identifier: Apache-2.0
"""What a cohort as a whole fails with."""

from .._engine import Error


class WorkerError(Error):
    """A worker cannot work, or there is none."""
