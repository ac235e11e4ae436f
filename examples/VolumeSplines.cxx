// SPDX-License-Identifier: Apache-2.0
#include "VolumeMetrics.h"

template class itk::BSplineInterpolationWeightFunction<double, 3, 3>;
template class itk::BSplineBaseTransform<double, 3, 3>;
template class itk::BSplineTransform<double, 3, 3>;
