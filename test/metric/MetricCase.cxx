// SPDX-License-Identifier: Apache-2.0
#include "MetricCase.h"

namespace gpuregtest
{

namespace
{
const char * const MeasureNames[] = {
  "Mattes",         "mean squares", "correlation", "demons", "mean absolute differences", "neighborhood correlation",
  "joint histogram"
};
const char * const MasksNames[] = { "none", "fixed", "moving", "both" };
const char * const SamplingNames[] = { "dense", "fixed points", "virtual points" };
const char * const GeometryNames[] = { "plain",      "anisotropic", "oblique",   "start index",
                                       "far origin", "odd sizes",   "one slice", "other virtual domain" };
const char * const MotionNames[] = { "translation",
                                     "rigid",
                                     "versor",
                                     "similarity",
                                     "affine",
                                     "scale",
                                     "two linear",
                                     "moving initial",
                                     "fixed initial",
                                     "field",
                                     "field in composite",
                                     "affine then field",
                                     "field then affine",
                                     "field then field",
                                     "several then affine",
                                     "affine behind field",
                                     "affine behind spline",
                                     "affine among grids",
                                     "spline",
                                     "spline aside",
                                     "affine then spline",
                                     "field then spline",
                                     "spline behind affine" };
const char * const InterpolationNames[] = { "linear", "nearest", "B-spline" };
} // namespace

std::ostream &
operator<<(std::ostream & os, const MetricCase & c)
{
  return os << MeasureNames[static_cast<int>(c.measure)] << ", " << c.dimension << "D "
            << (c.doublePixels ? "double" : "float") << ", " << GeometryNames[static_cast<int>(c.geometry)] << ", "
            << MotionNames[static_cast<int>(c.motion)] << ", " << InterpolationNames[static_cast<int>(c.interpolation)]
            << ", gradient filter " << (c.gradientFilter ? "on" : "off")
            << (c.fixedGradient ? ", of the fixed image" : "") << ", masks " << MasksNames[static_cast<int>(c.masks)]
            << ", " << SamplingNames[static_cast<int>(c.sampling)] << (c.flatBackground ? ", flat background" : "")
            << (c.many ? ", many samples, " : ", ") << c.bins << " bins, variance " << c.variance << ", spline order "
            << c.splineOrder << ", radius " << c.radius[0] << ' ' << c.radius[1] << ' ' << c.radius[2] << ", seed "
            << c.seed;
}

} // namespace gpuregtest
