# SPDX-License-Identifier: Apache-2.0
"""Writes a registration's report: one HTML file that needs no other file.

from gpuregistration.report import ReportData, write_report
write_report("report.html", ReportData(fixed=..., moving_before=..., moving_after=..., spacing=..., origin=...))
"""

from .data import Cut, Level, MovingSide, ReportData, Stage
from .write import write_report

__all__ = ["Cut", "Level", "MovingSide", "ReportData", "Stage", "write_report"]
