// SPDX-License-Identifier: Apache-2.0
#ifndef SideBySide_h
#define SideBySide_h

#include <benchmark/benchmark.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace bench
{

/** Returns a counter as text for a table; Table::none if the row has no such counter. */
std::string
FormatCounter(const benchmark::BenchmarkReporter::Run & row, const std::string & counter);

/** Compares our times with ITK's in one run: registers rows with Google Benchmark, runs those that are requested, and prints a table of
 *  them at the end.
 *
 *  A row is named by a path such as Mattes/full/value/MI/cuda:0. Its counterpart is the nearest row called ITK: in the row's own folder,
 *  or in one above it. The row's time, "as called", is what Google Benchmark measures around its loop. These counters have columns of
 *  their own: "kernels_ms", "with_transfers_ms", "GB/s"; those of SetBounds() have tables. */
class SideBySide : public benchmark::ConsoleReporter
{
public:
  /** A counter that is a difference, from ITK or from the truth, and its largest value. */
  struct Tolerance
  {
    std::string counter;
    double      largest;
    /** Applies to rows whose names contain this text. */
    std::string rows{};
  };

  /** A table of further counters, for the rows that have any of them. */
  struct CounterTable
  {
    std::string              title;
    std::vector<std::string> counters;
  };

  SideBySide(std::vector<Tolerance> tolerances, std::vector<CounterTable> tables, std::string footnote);

  /** Registers a row. \param body measures; an exception fails the row, not the program's other rows. */
  benchmark::internal::Benchmark *
  Register(const std::string & name, const std::function<void(benchmark::State &)> & body);

  /** Runs the requested rows. \returns the program's exit code: success if every row ran, and is close enough to ITK. */
  int
  Measure();

  /** Returns each row's median, or its one run, in the order of registration. */
  const std::vector<Run> &
  GetRows() const
  {
    return m_Rows;
  }

  /** Returns a row, or nullptr if it did not run. */
  const Run *
  FindRow(const std::string & name) const;

  /** Called by Google Benchmark. */
  void
  ReportRuns(const std::vector<Run> & runs) override;
  void
  Finalize() override;

protected:
  /** Prints the measurements; Measure() then prints the devices' limits, the footnote and the failures. */
  virtual void
  PrintTables(std::ostream & os);

  /** Returns the values of the row's tolerances as text. A row beyond a tolerance fails. */
  std::string
  DescribeDifference(const Run & row);

private:
  const Run *
  FindCounterpart(const std::string & name) const;

  std::vector<Tolerance>    m_Tolerances;
  std::vector<CounterTable> m_Tables;
  std::string               m_Footnote;
  std::vector<Run>          m_Rows;
  /** Messages of failures, by the row's name. */
  std::map<std::string, std::string> m_Failures;
};

} // namespace bench

#endif
