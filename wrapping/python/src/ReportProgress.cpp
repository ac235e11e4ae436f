// SPDX-License-Identifier: Apache-2.0
#include "ReportProgress.h"

#include "gpureg/core/Error.h"

#include <memory>

namespace nb = nanobind;

namespace gpureg
{
namespace python
{

void
ReportProgress(const nb::object & progress, const DeformationProgress & where)
{
  const auto isReported = std::make_shared<bool>(true);
  nb::object downloadCost = nb::cpp_function([isReported, ask = where.downloadCost] {
    if (!*isReported)
    {
      throw BadInputError("a progress knows its cost only while the progress function runs: call find_cost() there");
    }
    return ask();
  });
  const struct End
  {
    bool & isOn;
    ~End()
    {
      isOn = false;
    }
  } end{ *isReported };
  progress(where.level, where.levels, where.iteration, where.share, downloadCost);
}

} // namespace python
} // namespace gpureg
