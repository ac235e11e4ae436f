// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_python_ReportProgress_h
#define gpureg_python_ReportProgress_h

#include "gpureg/registration/DeformationProgress.h"

#include <nanobind/nanobind.h>

namespace gpureg
{
namespace python
{

/** Calls a caller's progress function with the level, the number of levels, the iteration, the share of the work that is done, and a
 *  function that finds the cost. Whoever keeps that function for later gets an exception. With the GIL. */
void
ReportProgress(const nanobind::object & progress, const DeformationProgress & where);

} // namespace python
} // namespace gpureg

#endif
