# SPDX-License-Identifier: Apache-2.0
"""Computes how busy each device was."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Iterable, Sequence

from .pipeline import Outcome


@dataclass(frozen=True)
class Share:
    """One device's part of the work.

    Attributes:
        host: its machine.
        device, description: its name, and what it is.
        pairs: how many were done on it.
        busy_seconds: how long it registered at least one pair, from the images in memory to the warped one there.
        busy: busy_seconds, divided by the time from when workers were ready until the last pair ended.
    """

    host: str
    device: str
    description: str
    pairs: int
    busy_seconds: float
    busy: float


def compute_shares(outcomes: Iterable[Outcome], seconds: float) -> list[Share]:
    """Computes each device's share of pairs that ended within so many seconds."""
    by_device: dict[tuple[str, str, str], list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        if outcome.worker is not None:
            by_device[outcome.worker.host, outcome.worker.device, outcome.worker.description].append(outcome)
    shares = []
    for (host, device, description), ended in sorted(by_device.items()):
        busy = covered_by([outcome.spans["register"] for outcome in ended if "register" in outcome.spans])
        pairs = sum(not outcome.failed for outcome in ended)
        shares.append(Share(host, device, description, pairs, busy, busy / seconds if seconds > 0 else 0.0))
    return shares


def covered_by(spans: Sequence[tuple[float, float]]) -> float:
    """Computes how long at least one of the spans lasts."""
    covered, end = 0.0, float("-inf")
    for first, last in sorted(spans):
        covered += max(0.0, last - max(first, end))
        end = max(end, last)
    return covered
