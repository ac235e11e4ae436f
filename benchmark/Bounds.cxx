// SPDX-License-Identifier: Apache-2.0
#include "Bounds.h"

#include "DeviceLimits.h"
#include "SideBySide.h"

#include <algorithm>

namespace bench
{

namespace
{

using Run = benchmark::BenchmarkReporter::Run;

/** Returns a row's counter; 0 if the row does not have it. */
double
GetCounter(const Run & row, const std::string & counter)
{
  const auto found = row.counters.find(counter);
  return found != row.counters.end() ? found->second.value : 0;
}

/** Formats a time as a multiple of a bound. */
std::string
FormatMultiple(double time, double bound)
{
  return time > 0 && bound > 0 ? Format(time / bound) : Table::none;
}

/** Returns true if a row counts flops, but the device's peak is not known. */
bool
HasNoPeak(const Run & row)
{
  return GetCounter(row, "flops_per_voxel") > 0 && !(GetCounter(row, "flops_bound_ms") > 0);
}

} // namespace

const char * const BoundsFootnote =
  R"(Bounds are what a device needs at least, by what it does at most in this same run (the last table):
  copy            bytes by the bandwidth of a copy within the device's memory, best of ten of up to 1 GiB, read and
                  written bytes both counted: CUDA's cudaMemcpyAsync, OpenCL's a kernel, the host's memcpy on all
                  threads. Bytes: the input read once and the output written once, 4 a voxel, 12 for a field's vector.
                  A volume that stays in a cache from one update to the next may be faster than that
  flops           of floats, a multiply-add counted as two, by the peak: NVIDIA's multiprocessors, their multiply-adds a
                  cycle by CUDA's Programming Guide, and the largest clock that the driver reports, which the device
                  may not hold. Other devices' peaks are unknown: then copy alone is the bound
  kernels         as a multiple of the larger bound
  bus             bytes up by the bandwidth from pinned memory, and then bytes down by that to pinned memory, best of
                  ten of 256 MiB; none for a device whose memory is the host's. Times as multiples of that
)";

void
SetBounds(benchmark::State &                   state,
          const itk::GPUDevice &               device,
          const Work &                         work,
          const gpureg::EvaluationStatistics & counts)
{
  const DeviceLimits & limits = GetLimits(device);
  const auto           up = static_cast<double>(counts.bytesUp);
  const auto           down = static_cast<double>(counts.bytesDown);
  state.counters["bytes_per_voxel"] = work.bytesPerVoxel;
  state.counters["copy_bound_ms"] = 1e3 * work.voxels * work.bytesPerVoxel / limits.copyBytesPerSecond;
  if (work.flopsPerVoxel > 0)
  {
    state.counters["flops_per_voxel"] = work.flopsPerVoxel;
    if (limits.flopsPerSecond > 0)
    {
      state.counters["flops_bound_ms"] = 1e3 * work.voxels * work.flopsPerVoxel / limits.flopsPerSecond;
    }
  }
  if (limits.upBytesPerSecond > 0)
  {
    state.counters["MB_up"] = 1e-6 * up;
    state.counters["MB_down"] = 1e-6 * down;
    state.counters["bus_bound_ms"] = 1e3 * (up / limits.upBytesPerSecond + down / limits.downBytesPerSecond);
  }
}

std::array<std::string, 3>
DescribeBound(const Run & row)
{
  const double copy = GetCounter(row, "copy_bound_ms");
  const double flops = GetCounter(row, "flops_bound_ms");
  const double bound = std::max(copy, flops);
  if (!(bound > 0))
  {
    return { Table::none, Table::none, Table::none };
  }
  return { Format(bound), copy < flops ? "flops" : "copy", FormatMultiple(GetCounter(row, "kernels_ms"), bound) };
}

Table
MakeKernelBounds(const std::vector<Run> & rows)
{
  Table table("Bounds of the kernels, ms, and kernels as a multiple",
              { "row", "bytes/voxel", "flops/voxel", "copy", "flops", "bound by", "kernels" });
  for (const Run & row : rows)
  {
    if (GetCounter(row, "copy_bound_ms") > 0)
    {
      const auto [bound, by, kernels] = DescribeBound(row);
      table.AddRow({ row.run_name.function_name,
                     FormatCounter(row, "bytes_per_voxel"),
                     FormatCounter(row, "flops_per_voxel"),
                     FormatCounter(row, "copy_bound_ms"),
                     HasNoPeak(row) ? "unknown" : FormatCounter(row, "flops_bound_ms"),
                     by,
                     kernels });
    }
  }
  return table;
}

Table
MakeBusBounds(const std::vector<Run> & rows)
{
  Table table("Bounds of the bus, ms, and times as multiples",
              { "row", "MB up", "MB down", "bus", "with transfers", "as called" });
  for (const Run & row : rows)
  {
    if (const double bound = GetCounter(row, "bus_bound_ms"); bound > 0)
    {
      table.AddRow({ row.run_name.function_name,
                     FormatCounter(row, "MB_up"),
                     FormatCounter(row, "MB_down"),
                     Format(bound),
                     FormatMultiple(GetCounter(row, "with_transfers_ms"), bound),
                     FormatMultiple(row.GetAdjustedRealTime(), bound) });
    }
  }
  return table;
}

} // namespace bench
