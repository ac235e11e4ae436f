// SPDX-License-Identifier: Apache-2.0
// The rows of one metric for one case: value, and value and derivative, by ITK and on each device.
#ifndef PairRows_h
#define PairRows_h

#include "BenchmarkOptions.h"
#include "MetricRows.h"
#include "OneAtATime.h"
#include "SideBySide.h"

#include <functional>
#include <string>
#include <utility>

namespace bench
{

/** Registers a metric's rows for each case. */
class PairRows
{
public:
  PairRows(SideBySide & table, Hardware hardware)
    : m_Table(table)
    , m_Hardware(std::move(hardware))
  {}

  /** \param folder of the rows.
   *  \param make returns the case.
   *  \param traffic least bytes for each sample, for the value, and with the derivative.
   *  \param isITKs true if TITK computes the same.
   *  \param asksITK false to skip ITK's metric, which may take minutes. */
  template <typename TITK, typename TOurs>
  void
  Register(const std::string &                    folder,
           const std::function<MattesCase<3>()> & make,
           const std::pair<double, double> &      traffic,
           bool                                   isITKs,
           bool                                   asksITK = true)
  {
    using LoadedType = LoadedMetrics<3, TITK, TOurs>;
    const auto load = [=]() -> LoadedType & {
      return m_Case.Get(folder, [&] { return LoadedType(make(), m_Hardware.threads); });
    };
    const std::pair<const char *, Quantity> quantities[] = { { "/value", Quantity::Value },
                                                             { "/value+derivative", Quantity::ValueAndDerivative } };
    for (const auto & [text, quantity] : quantities)
    {
      if (asksITK)
      {
        m_Table.Register(folder + text + "/ITK",
                         [=, quantity = quantity](auto & state) { MeasureITK(state, load(), quantity); });
      }
      for (const itk::GPUDevice & device : m_Hardware.devices)
      {
        m_Table.Register(folder + text + "/" + device.GetName(), [=, quantity = quantity](auto & state) {
          auto &       loaded = load();
          const auto & points = loaded.input.points;
          const auto   samples = static_cast<double>(
            points ? points->GetNumberOfPoints() : loaded.input.fixed->GetLargestPossibleRegion().GetNumberOfPixels());
          const double bytes = quantity == Quantity::Value ? traffic.first : traffic.second;
          MeasureOurs(state, loaded, quantity, device, samples * bytes, isITKs && asksITK);
        });
      }
    }
  }

private:
  SideBySide & m_Table;
  Hardware     m_Hardware;
  OneAtATime   m_Case;
};

} // namespace bench

#endif
