// SPDX-License-Identifier: Apache-2.0
#include "Brightness.h"

#include <algorithm>
#include <vector>

namespace example
{

Brightness::Brightness(const Volume * image)
{
  m_Values->SetInputImage(image);
  const auto         count = image->GetBufferedRegion().GetNumberOfPixels();
  const auto * const buffer = image->GetBufferPointer();
  std::vector<float> values(buffer, buffer + count);
  const auto nearBrightest = values.begin() + static_cast<std::ptrdiff_t>(0.99 * static_cast<double>(count - 1));
  std::nth_element(values.begin(), nearBrightest, values.end());
  m_Brightest = std::max(1e-6, static_cast<double>(*nearBrightest));
}

double
Brightness::At(const Volume::PointType & point) const
{
  const double value = m_Values->IsInsideBuffer(point) ? m_Values->Evaluate(point) / m_Brightest : 0.0;
  return std::min(1.0, std::max(0.0, value));
}

} // namespace example
