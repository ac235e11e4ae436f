# SPDX-License-Identifier: Apache-2.0
"""Kills workers of tests from outside."""

import os
import signal


class KillOne:
    """A progress function that kills the first worker whose process is noted in a folder, and keeps the news.

    Args:
        notes: the folder; a worker notes itself there as a file process-PID.
    """

    def __init__(self, notes):
        self._notes = notes
        self.news, self.killed = [], []

    def __call__(self, progress):
        self.news += [progress.news] if progress.news else []
        for path in self._notes.glob("process-*") if not self.killed else []:
            self.killed.append(path.name)
            os.kill(int(path.name.removeprefix("process-")), signal.SIGKILL)
