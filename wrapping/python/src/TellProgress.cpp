// SPDX-License-Identifier: Apache-2.0
#include "TellProgress.h"

#include "gpureg/core/Error.h"

#include <memory>

namespace nb = nanobind;

namespace gpureg
{
namespace python
{

void
TellProgress(const nb::object & progress, const DeformationProgress & where)
{
  const auto isReported = std::make_shared<bool>(true);
  nb::object findCost = nb::cpp_function([isReported, ask = where.findCost] {
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
  progress(where.level, where.levels, where.iteration, where.share, findCost);
}

} // namespace python
} // namespace gpureg
