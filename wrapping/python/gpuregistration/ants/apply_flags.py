# SPDX-License-Identifier: Apache-2.0
"""The flags of antsApplyTransforms."""

from .interpolation_names import INTERPOLATIONS
from .syntax import Flag

OUTPUTS = "FILE, [FIELD,1], [FILE,0], DisplacementField[FIELD], Linear[MATRIX,0|1] or CompositeTransform[FILE]"
_TYPES = "0 (scalars), 1 (vectors), 2 (tensors), 3 (a series over time), 4 (channels) or 6 (vectors along physical axes)"
# The text of what such a flag expects, and its value where it stands alone.
_TRUTH = "0 or 1", "1"

FLAGS = (
    Flag("d", "dimensionality", "dimensions of the reference", "2 or 3"),
    Flag("e", "input-image-type", "what the input is", _TYPES),
    Flag("i", "input", "the image that is moved", "FILE"),
    Flag("r", "reference-image", "the image whose grid the output has", "FILE"),
    Flag("o", "output", "the moved image, or the transforms as one", OUTPUTS),
    Flag("n", "interpolation", "how values are interpolated", INTERPOLATIONS),
    Flag("t", "transform", "transforms, of which the first one is applied first to points of the reference", "FILE, [FILE,0|1] or identity"),
    Flag("f", "default-value", "the value outside of the input", "a number"),
    Flag("u", "output-data-type", "the type of the output's values", "char, uchar, short, int, float, double or default"),
    Flag("", "float", "computes images of single precision", *_TRUTH),
    Flag("v", "verbose", "prints what is done", *_TRUTH),
    Flag("z", "static-cast-for-R", "ignored", *_TRUTH),
    Flag("", "time-index", "the volume of a series that is taken", "a whole number of 0 or more"),
    Flag("", "version", "prints the version", *_TRUTH),
    Flag("h", "help", "prints this", *_TRUTH),
)
