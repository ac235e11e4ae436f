// SPDX-License-Identifier: Apache-2.0
#include "SideBySide.h"

#include "Bounds.h"
#include "DeviceLimits.h"
#include "Table.h"

#include "itkMacro.h"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

namespace bench
{

namespace
{

using Run = benchmark::BenchmarkReporter::Run;

/** Returns a row's name without Google Benchmark's suffixes about repetitions. */
const std::string &
GetName(const Run & row)
{
  return row.run_name.function_name;
}

bool
IsOfITK(const Run & row)
{
  const std::string & name = GetName(row);
  return name.substr(name.rfind('/') + 1) == "ITK";
}

} // namespace

std::string
FormatCounter(const Run & row, const std::string & counter)
{
  const auto found = row.counters.find(counter);
  return found != row.counters.end() ? Format(found->second) : Table::none;
}

SideBySide::SideBySide(std::vector<Tolerance> tolerances, std::vector<CounterTable> tables, std::string footnote)
  : ConsoleReporter(OO_None) // logs need no colours
  , m_Tolerances(std::move(tolerances))
  , m_Tables(std::move(tables))
  , m_Footnote(std::move(footnote))
{}

benchmark::internal::Benchmark *
SideBySide::Register(const std::string & name, const std::function<void(benchmark::State &)> & body)
{
  const auto guarded = [this, name, body](benchmark::State & state) {
    const auto fail = [&](const char * message) {
      m_Failures[name] = message;
      state.SkipWithError(message);
      // Begins the loop if it was not reached: Google Benchmark requires the same count of iterations for each repetition.
      state.KeepRunning();
    };
    try
    {
      body(state);
    }
    catch (const itk::ExceptionObject & error)
    {
      fail(error.GetDescription());
    }
    catch (const std::exception & error)
    {
      fail(error.what());
    }
  };
  return benchmark::RegisterBenchmark(name.c_str(), guarded)->UseRealTime()->Unit(benchmark::kMillisecond);
}

int
SideBySide::Measure()
{
  const std::size_t count = benchmark::RunSpecifiedBenchmarks(this);
  benchmark::Shutdown();
  return count > 0 && m_Failures.empty() ? EXIT_SUCCESS : EXIT_FAILURE;
}

const Run *
SideBySide::FindRow(const std::string & name) const
{
  const auto found = std::find_if(m_Rows.begin(), m_Rows.end(), [&](const auto & row) { return GetName(row) == name; });
  return found != m_Rows.end() ? &*found : nullptr;
}

const Run *
SideBySide::FindCounterpart(const std::string & name) const
{
  for (auto end = name.rfind('/'); end != std::string::npos && end > 0; end = name.rfind('/', end - 1))
  {
    if (const auto * const row = this->FindRow(name.substr(0, end) + "/ITK"))
    {
      return row;
    }
  }
  return nullptr;
}

/** Stores the medians, or the one run of a row that is not repeated, and prints their times at once, since a run takes minutes. */
void
SideBySide::ReportRuns(const std::vector<Run> & runs)
{
  std::vector<Run> shown;
  for (const auto & run : runs)
  {
    if (run.aggregate_name == "median" || (run.repetitions == 1 && m_Failures.count(GetName(run)) == 0))
    {
      m_Rows.push_back(run);
      shown.push_back(run);
      // The counters are printed in the tables.
      shown.back().counters.clear();
    }
  }
  if (!shown.empty())
  {
    ConsoleReporter::ReportRuns(shown);
  }
}

std::string
SideBySide::DescribeDifference(const Run & row)
{
  std::string text;
  for (const Tolerance & tolerance : m_Tolerances)
  {
    const auto found = row.counters.find(tolerance.counter);
    if (found != row.counters.end() && GetName(row).find(tolerance.rows) != std::string::npos)
    {
      text += (text.empty() ? "" : " ") + FormatScientific(found->second);
      // NaN is no agreement, either.
      if (!(found->second <= tolerance.largest))
      {
        text += " !";
        m_Failures[GetName(row)] = tolerance.counter + " is above " + FormatScientific(tolerance.largest);
      }
    }
  }
  return text.empty() ? Table::none : text;
}

void
SideBySide::PrintTables(std::ostream & os)
{
  Table times("Times in ms", { "row", "kernels", "with transfers", "as called", "ITK", "ratio", "GB/s", "difference" });
  for (const auto & row : m_Rows)
  {
    if (!IsOfITK(row))
    {
      const double       asCalled = row.GetAdjustedRealTime();
      const auto * const itks = this->FindCounterpart(GetName(row));
      times.AddRow({ GetName(row),
                     FormatCounter(row, "kernels_ms"),
                     FormatCounter(row, "with_transfers_ms"),
                     Format(asCalled),
                     itks ? Format(itks->GetAdjustedRealTime()) : Table::none,
                     itks ? Format(itks->GetAdjustedRealTime() / asCalled) : Table::none,
                     FormatCounter(row, "GB/s"),
                     this->DescribeDifference(row) });
    }
  }
  times.Print(os);
  MakeKernelBounds(m_Rows).Print(os);
  MakeBusBounds(m_Rows).Print(os);
  for (const CounterTable & columns : m_Tables)
  {
    std::vector<std::string> header = columns.counters;
    for (std::string & title : header)
    {
      std::replace(title.begin(), title.end(), '_', ' ');
    }
    header.insert(header.begin(), "row");
    Table table(columns.title, header);
    for (const auto & row : m_Rows)
    {
      std::vector<std::string> cells{ GetName(row) };
      for (const std::string & counter : columns.counters)
      {
        cells.push_back(FormatCounter(row, counter));
      }
      if (std::any_of(cells.begin() + 1, cells.end(), [](const auto & cell) { return cell != Table::none; }))
      {
        table.AddRow(cells);
      }
    }
    table.Print(os);
  }
}

void
SideBySide::Finalize()
{
  std::ostream & os = this->GetOutputStream();
  this->PrintTables(os);
  MakeLimitsTable().Print(os);
  os << '\n' << m_Footnote;
  for (const auto & [name, message] : m_Failures)
  {
    os << "FAILED: " << name << ": " << message << '\n';
  }
  os << std::flush;
}

} // namespace bench
