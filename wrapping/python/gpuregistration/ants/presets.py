# SPDX-License-Identifier: Apache-2.0
"""The arguments of antsRegistration that ANTsPy's type_of_transform stands for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Iterable, Optional, Sequence

from .._engine import BadInputError, UnsupportedError

#: Names of the images among the arguments.
FIXED, MOVING, FIXED_MASK, MOVING_MASK = "fixed", "moving", "fixed mask", "moving mask"

_LINEAR = ("Rigid", "Similarity", "Translation", "Affine")
# The kind of stages may have a radius or bins and a spline's distance behind it, which ANTsPy reads and does not use.
_SCRIPT = re.compile(r"^antsRegistrationSyN(Quick)?(Repro)?(?:\[(?:(\w+)|(\w+)(?:,\s*\d+(?:\.\d+)?){1,2})\])?$")
_SCRIPT_STAGES = {
    "t": ("Translation",),
    "r": ("Rigid",),
    "a": ("Rigid", "Affine"),
    "s": ("Rigid", "Affine", "SyN"),
    "sr": ("Rigid", "SyN"),
    "so": ("SyN",),
}
_ELSEWHERE = re.compile(r"^(Elastic|TV\[\d\]|TVMSQ|TVMSQC|antsRegistrationSyN(Quick)?(Repro)?\[(b|br|bo)(,.*)?\])$")

# Linear stages in front of SyN: transform, iterations, factors and sigmas of each.
_LONG = ("2100x1200x1200x0", "4x2x2x1", "3x2x1x0")
_BOLD = ("[1200x1200x100,1e-6,5]", "4x2x1", "2x1x0")
_BEFORE_SYN: dict[str, list[tuple[str, ...]]] = {
    "SyN": [("Affine[0.25]", *_LONG)],
    "SyNRA": [("Rigid[0.25]", *_LONG), ("Affine[0.25]", *_LONG)],
    "SyNOnly": [],
    "SyNAggro": [("Affine[0.25]", "2100x1200x1200x100", "4x2x2x1", "3x2x1x0")],
    "SyNLessAggro": [("Affine[0.25]", "2100x1200x1200x100", "4x2x2x1", "3x2x1x0")],
    "ElasticSyN": [("Affine[0.25]", "2100x1200x200x0", "4x2x2x1", "3x2x1x0")],
    "SyNBold": [("Rigid[0.25]", *_BOLD)],
    "SyNBoldAff": [("Rigid[0.25]", *_BOLD), ("Affine[0.25]", "[200x20,1e-6,5]", "2x1", "1x0")],
    "SyNCC": [("Rigid[1]", "2100x1200x1200x0", "4x4x2x1", "3x2x1x0"), ("Affine[1]", "1200x1200x100", "4x2x1", "2x1x0")],
    "SyNabp": [("Rigid[0.1]", "1000x500x250x100", "8x4x2x1", "4x2x1x0"), ("Affine[0.1]", "1000x500x250x100", "8x4x2x1", "4x2x1x0")],
}
# Names that stand for a linear one: iterations, and factors and sigmas where they are others than the caller's.
_QUICK: dict[str, tuple[str, Optional[Sequence[int]], Optional[tuple[Sequence[int], Sequence[float]]]]] = {
    "AffineFast": ("Affine", (2100, 1200, 0, 0), None),
    "BOLDAffine": ("Affine", (100, 20), ((2, 1), (1, 0))),
    "QuickRigid": ("Rigid", (20, 20, 0, 0), None),
    "BOLDRigid": ("Rigid", (100, 20), ((2, 1), (1, 0))),
    "DenseRigid": ("Rigid", None, None),
}
_SCRIPTS = tuple(f"antsRegistrationSyN{kind}[x]" for kind in ("", "Quick", "Repro", "QuickRepro"))
NAMES = (*_BEFORE_SYN, *_LINEAR, *_QUICK, "TRSAA", *_SCRIPTS)


@dataclass
class Numbers:
    """The numbers that ANTsPy's registration takes besides the type of transform, with its defaults."""

    grad_step: float = 0.2
    flow_sigma: float = 3
    total_sigma: float = 0
    aff_metric: str = "mattes"
    aff_sampling: int = 32
    aff_random_sampling_rate: float = 0.2
    syn_metric: str = "mattes"
    syn_sampling: int = 32
    reg_iterations: Sequence[int] = (40, 20, 0)
    aff_iterations: Sequence[int] = (2100, 1200, 1200, 10)
    aff_shrink_factors: Sequence[int] = (6, 4, 2, 1)
    aff_smoothing_sigmas: Sequence[float] = (3, 2, 1, 0)
    smoothing_in_mm: bool = False
    #: Further metrics of the deforming stage, as -m takes them.
    further: Sequence[str] = ()


def begins_with_identity(type_of_transform: str) -> bool:
    """Tells whether a registration without initial transform begins with the identity, and not with the centres of mass."""
    found = _SCRIPT.match(type_of_transform)
    # With numbers behind it, ANTsPy does not know "so" again.
    return type_of_transform == "SyNOnly" or (found is not None and found.group(3) == "so")


def is_script(type_of_transform: str) -> bool:
    """Tells whether a type is one of the scripts', for which ANTsPy matches no histograms."""
    return _SCRIPT.match(type_of_transform) is not None


def takes_further_metrics(type_of_transform: str) -> bool:
    """Tells whether a type takes multivariate_extras in ANTsPy, and deforms."""
    found = _SCRIPT.match(type_of_transform)
    return type_of_transform == "SyNOnly" or (found is not None and _stages_of(found).startswith("s"))


def _stages_of(script: "re.Match[str]") -> str:
    """Returns the key of _SCRIPT_STAGES that a name of a script has; "" if there is none such."""
    plain, numbered = script.group(3), script.group(4)
    kind = plain or numbered or "s"
    return kind if kind in _SCRIPT_STAGES and (numbered is None or kind.startswith("s")) else ""


def make_stages(type_of_transform: str, numbers: Numbers, early_masks: str, last_masks: str) -> list[str]:
    """Returns the arguments of all stages.

    Args:
        early_masks, last_masks: the masks of all stages but the last one, and of that one, as -x takes them.

    Raises:
        BadInputError: there is no such type of transform.
        UnsupportedError: ANTsPy has it, and this package has not.
    """
    if _ELSEWHERE.match(type_of_transform):
        raise UnsupportedError(f"type_of_transform={type_of_transform!r} is not possible here: ANTsPy has it alone. There are: {', '.join(NAMES)}.")
    stages = _list_stages(type_of_transform, numbers)
    if is_script(type_of_transform):
        # ANTsPy gives the scripts' types one mask for all stages.
        early_masks = last_masks
    words: list[str] = []
    for number, (metric, transform, convergence, factors, sigmas) in enumerate(stages):
        words += ["-m", metric]
        if number == len(stages) - 1:
            words += [word for further in numbers.further for word in ("-m", further)]
        words += ["-t", transform, "-c", convergence, "-f", factors, "-s", sigmas]
        words += ["-x", last_masks if number == len(stages) - 1 else early_masks]
    return words


def _list_stages(name: str, numbers: Numbers) -> list[tuple[str, ...]]:
    script = _SCRIPT.match(name)
    linear_metric = f"{numbers.aff_metric}[{FIXED},{MOVING},1,{numbers.aff_sampling},regular,{numbers.aff_random_sampling_rate}]"
    levels = len(numbers.reg_iterations)
    factors, sigmas = _joined(2**n for n in range(levels)[::-1]), _joined(range(levels)[::-1])
    if name in _BEFORE_SYN:
        syn: tuple[str, ...] = (
            f"{numbers.syn_metric}[{FIXED},{MOVING},1,{numbers.syn_sampling}]",
            f"SyN[{numbers.grad_step},{numbers.flow_sigma},{numbers.total_sigma}]",
            f"[{_joined(numbers.reg_iterations)},1e-7,8]",
            factors,
            sigmas,
        )
        if name == "SyNCC":
            syn = (f"CC[{FIXED},{MOVING},1,4]", "SyN[0.15,3,0]", "[2100x1200x1200x20,1e-7,8]", "4x3x2x1", "3x2x1x0")
        elif name == "SyNabp":
            syn = (f"CC[{FIXED},{MOVING},0.5,4]", "SyN[0.1,3,0]", "50x10x0", "4x2x1", "2x1x0")
            # Whatever metric, bins and share are given.
            linear_metric = f"mattes[{FIXED},{MOVING},1,32,regular,0.25]"
        return [*((linear_metric, *before) for before in _BEFORE_SYN[name]), syn]
    if name == "TRSAA":
        low = levels - levels // 2
        early, late = _joined([2000] * low + [0] * (levels - low)), f"[{_joined(numbers.reg_iterations)},1e-7,10]"
        order = ("Translation", early), ("Rigid", early), ("Similarity", early), ("Affine", late), ("Affine", late)
        return [(linear_metric, f"{transform}[1]", iterations, factors, sigmas) for transform, iterations in order]
    if name in _LINEAR or name in _QUICK:
        transform, iterations, schedule = _QUICK.get(name, (name, None, None))
        at = schedule or (numbers.aff_shrink_factors, numbers.aff_smoothing_sigmas)
        unit = "mm" if numbers.smoothing_in_mm else "vox"
        return [(linear_metric, f"{transform}[0.25]", _joined(iterations or numbers.aff_iterations), _joined(at[0]), _joined(at[1]) + unit)]
    if script is not None and _stages_of(script):
        return [_script_stage(kind, script) for kind in _SCRIPT_STAGES[_stages_of(script)]]
    raise BadInputError(f"There is no type_of_transform {name!r}; there are: {', '.join(NAMES)}, with x one of {', '.join(_SCRIPT_STAGES)}.")


def _script_stage(kind: str, script: "re.Match[str]") -> tuple[str, ...]:
    """Returns a stage of ANTs' script antsRegistrationSyN.sh, or of its quick or reproducible variant."""
    is_quick, is_repro, after_rigid = bool(script.group(1)), bool(script.group(2)), _stages_of(script) == "sr"
    last = 0 if is_quick else {"SyN": 20}.get(kind, 100)
    if kind != "SyN":
        metric = f"GC[{FIXED},{MOVING},1,1,Regular,0.25]" if is_repro else f"MI[{FIXED},{MOVING},1,32,Regular,0.25]"
        return metric, f"{kind}[0.1]", f"[1000x500x250x{last},1e-6,10]", "8x4x2x1", "3x2x1x0vox"
    metric = f"MI[{FIXED},{MOVING},1,32]" if is_quick and not is_repro else f"CC[{FIXED},{MOVING},1,2]"
    if after_rigid:
        return metric, "SyN[0.2,3,0]", f"[50x{last},1e-6,10]", "2x1", "1x0vox"
    return metric, "SyN[0.2,3,0]", f"[100x70x50x{last},1e-6,10]", "8x4x2x1", "3x2x1x0vox"


def _joined(numbers: Iterable[float]) -> str:
    return "x".join(f"{number:g}" for number in numbers)
