# SPDX-License-Identifier: Apache-2.0
"""How busy each device was."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Iterable, Sequence

from .schedule import Done


@dataclass(frozen=True)
class Share:
    """What one device did.

    Attributes:
        host: its machine.
        device, description: its name, and what it is.
        pairs: that were done on it.
        busy_seconds: for which it registered at least one pair, from the images in memory to the warped one there.
        busy: their share of the time from when workers were ready until the last pair was over.
    """

    host: str
    device: str
    description: str
    pairs: int
    busy_seconds: float
    busy: float


def find_shares(over: Iterable[Done], seconds: float) -> list[Share]:
    """Of pairs that are over, in so many seconds."""
    by_device: dict[tuple[str, str, str], list[Done]] = defaultdict(list)
    for done in over:
        if done.worker is not None:
            by_device[done.worker.host, done.worker.device, done.worker.description].append(done)
    shares = []
    for (host, device, description), those in sorted(by_device.items()):
        spans = [done.outcome.spans["register"] for done in those if "register" in done.outcome.spans]
        busy = covered_by(spans)
        pairs = sum(not done.outcome.failed for done in those)
        shares.append(Share(host, device, description, pairs, busy, busy / seconds if seconds > 0 else 0.0))
    return shares


def covered_by(spans: Sequence[tuple[float, float]]) -> float:
    """How long at least one of the spans lasts."""
    covered, end = 0.0, float("-inf")
    for first, last in sorted(spans):
        covered += max(0.0, last - max(first, end))
        end = max(end, last)
    return covered
