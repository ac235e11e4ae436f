# SPDX-License-Identifier: Apache-2.0
"""The weights of a recursive Gaussian."""

from __future__ import annotations

import numpy as np

# The Gaussian of sigma 1, for x >= 0, as a sum of two damped waves, (a cos(w x) + b sin(w x)) exp(l x), which fits it best:
# Farnebäck & Westin 2006, after Deriche 1993.
_A = np.array([1.3530, -0.3531])
_B = np.array([1.8151, 0.0902])
_W = np.array([0.6681, 2.0787])
_L = np.array([-1.3932, -1.3732])


def recursive_gaussian(sigma: float) -> tuple[list[float], list[float], list[float]]:
    """N, D and M of y+(i) = Σ N x - Σ D y+ forwards, and y-(i) = Σ M x - Σ D y- backwards, so that a constant stays what it is.

    Args:
        sigma: in voxels.
    """
    # The wave's z-transform has two poles each; D is their polynomial.
    poles = np.exp((_L + 1j * _W) / sigma)
    d = np.real(np.poly(np.concatenate([poles, poles.conj()])))
    # What the recursion gives of an impulse are the waves; N is what makes it begin so.
    x = np.arange(4)[:, np.newaxis] / sigma
    impulse = ((_A * np.cos(_W * x) + _B * np.sin(_W * x)) * np.exp(_L * x)).sum(axis=1)
    n = np.convolve(impulse, d)[:4]
    n /= 2 * n.sum() / d.sum() - n[0]
    m = np.append(n[1:], 0.0) - d[1:] * n[0]
    return n.tolist(), d[1:].tolist(), m.tolist()
