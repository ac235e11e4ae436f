// SPDX-License-Identifier: Apache-2.0
#include "GPURegistrationDetail/core/itkGPUUndisturbed.h"

#include <atomic>

namespace itk
{
namespace GPURegistrationDetail
{

namespace
{
thread_local std::uint64_t current = 0;
} // namespace

Undisturbed::Undisturbed()
{
  End();
}

void
Undisturbed::Begin()
{
  static std::atomic<std::uint64_t> last{ 0 };
  current = ++last;
}

Undisturbed::~Undisturbed()
{
  End();
}

void
Undisturbed::End()
{
  current = 0;
}

std::uint64_t
Undisturbed::GetCurrent()
{
  return current;
}

} // namespace GPURegistrationDetail
} // namespace itk
