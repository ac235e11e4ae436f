# SPDX-License-Identifier: Apache-2.0
"""The flags of antsRegistration."""

from __future__ import annotations

from .._engine import BadInputError
from .interpolation_names import INTERPOLATIONS
from .syntax import Flag, Value

TRANSFORMS_THAT_RUN = (
    "Translation[step], Rigid[step], Similarity[step], Affine[step], SyN[step,update variance=3,total variance=0] "
    "or BSpline[step,NxN], with the cells of each axis, or with one whole number, the length of a cell in mm"
)
METRICS_THAT_RUN = (
    "CC[fixed,moving,weight,radius], MI or Mattes[fixed,moving,weight,bins,None|Regular|Random,share], "
    "MeanSquares[fixed,moving,weight], Demons[fixed,moving,weight] or GC[fixed,moving,weight]"
)
# The text of what such a flag expects, and its value where it stands alone.
_TRUTH = "0 or 1", "1"
_IGNORED_COUNT = "a whole number of 0 or more", "1"
_FACTORS = "NxN, one number for each axis, or for each parameter of a linear stage; one list for each stage"

FLAGS = (
    Flag("d", "dimensionality", "dimensions of the images", "2 or 3"),
    Flag("o", "output", "prefix of the transforms, and names of the warped images", "PREFIX, [PREFIX,WARPED] or [PREFIX,WARPED,INVERSEWARPED]"),
    Flag("r", "initial-moving-transform", "where the registration begins", "FILE, [FILE,0|1], Identity, or [FIXED,MOVING,0|1|2]"),
    Flag("q", "initial-fixed-transform", "maps the fixed image's grid to its points", "FILE, [FILE,0|1], Identity, or [FIXED,MOVING,0|1|2]"),
    Flag("t", "transform", "begins a stage", TRANSFORMS_THAT_RUN),
    Flag("m", "metric", "what a stage compares images by", METRICS_THAT_RUN),
    Flag("c", "convergence", "iterations of a stage's levels", "NxN or [NxN,threshold=1e-6,window=10]"),
    Flag("f", "shrink-factors", "voxels that one of a level stands for", "NxN, whole numbers of 1 or more, one for each level"),
    Flag("s", "smoothing-sigmas", "how a level's images are smoothed", "NxN, NxNvox or NxNmm, numbers of 0 or more, one for each level"),
    Flag("x", "masks", "what the metric looks at, of all stages or of each", "FIXEDMASK, [FIXEDMASK,MOVINGMASK] or NULL"),
    Flag("w", "winsorize-image-intensities", "quantiles to which values are cut", "[LOWER,UPPER], two numbers from 0 to 1, such as [0.005,0.995]"),
    Flag("u", "use-histogram-matching", "gives the moving image the fixed one's histogram", *_TRUTH),
    Flag("n", "interpolation", "how the warped images are interpolated", INTERPOLATIONS),
    Flag("g", "restrict-deformation", "factors of a deformation's components, or of a linear stage's parameters", _FACTORS),
    Flag("a", "write-composite-transform", "writes PREFIXComposite.h5 instead of several files", *_TRUTH),
    Flag("z", "collapse-output-transforms", "0: writes a file for each stage", *_TRUTH),
    Flag("i", "initialize-transforms-per-stage", "begins each linear stage with the last one's parameters", *_TRUTH),
    Flag("", "float", "writes images of single precision", *_TRUTH),
    Flag("v", "verbose", "prints how the registration goes", *_TRUTH),
    Flag("", "random-seed", "of random numbers", "a whole number of 0 or more"),
    Flag("j", "save-state", "saves what a later registration may begin with", "FILE.h5"),
    Flag("k", "restore-state", "begins with what was saved, or with a transform", "FILE"),
    Flag("l", "use-estimate-learning-rate-once", "ignored", *_TRUTH),
    Flag("p", "print-similarity-measure-interval", "ignored", *_IGNORED_COUNT),
    Flag("", "write-interval-volumes", "ignored", *_IGNORED_COUNT),
    Flag("", "minc", "writes files of MINC", *_TRUTH),
    Flag("", "version", "prints the version", *_TRUTH),
    Flag("h", "help", "prints this", *_TRUTH),
)


def needed(values: dict[str, list[Value]], name: str) -> list[Value]:
    """Returns the values of a flag. Raises BadInputError if there is none."""
    if not values[name]:
        flag = next(flag for flag in FLAGS if flag.long == name)
        raise BadInputError(f"{flag.spelled} is missing: expected {flag.expected}")
    return values[name]
