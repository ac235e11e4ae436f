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

/** As it stands in a table; Table::none if the row has no such counter. */
std::string
FormatCounter(const benchmark::BenchmarkReporter::Run & row, const std::string & counter);

/** Ours beside ITK's, from one run: registers rows with Google Benchmark, runs those that are asked for, and prints
 * a table of them at the end.
 *
 * A row is named by a path such as Mattes/full/value/MI/cuda:0. Its counterpart is the nearest row called ITK: in
 * the row's own folder, or in one above it. The row's time, "as called", is what Google Benchmark measures around
 * its loop. These counters have columns of their own: "kernels_ms", "with_transfers_ms", "GB/s"; those of SetBounds()
 * have tables. */
class SideBySide : public benchmark::ConsoleReporter
{
public:
  /** A counter that tells a difference, from ITK or from the truth, and how large it may be. */
  struct Tolerance
  {
    std::string counter;
    double      largest;
    /** Of the rows whose names contain this. */
    std::string rows{};
  };

  /** A table of further counters, of the rows that have any of them. */
  struct CounterTable
  {
    std::string              title;
    std::vector<std::string> counters;
  };

  SideBySide(std::vector<Tolerance> tolerances, std::vector<CounterTable> tables, std::string footnote);

  /** \param body measures; what it throws fails the row, not the program's other rows. */
  benchmark::internal::Benchmark *
  Register(const std::string & name, const std::function<void(benchmark::State &)> & body);

  /** \returns the program's exit code: whether every row ran, and came close enough to ITK. */
  int
  Measure();

  /** Each row's median, or its one run, in the order in which they were registered. */
  const std::vector<Run> &
  GetRows() const
  {
    return m_Rows;
  }

  /** nullptr where it did not run. */
  const Run *
  FindRow(const std::string & name) const;

  /** Google Benchmark calls these. */
  void
  ReportRuns(const std::vector<Run> & runs) override;
  void
  Finalize() override;

protected:
  /** Prints what was measured; afterwards come the devices' limits, the footnote and what failed. */
  virtual void
  PrintTables(std::ostream & os);

  /** What the row's tolerances speak of. A row beyond one fails. */
  std::string
  DescribeDifference(const Run & row);

private:
  const Run *
  FindCounterpart(const std::string & name) const;

  std::vector<Tolerance>    m_Tolerances;
  std::vector<CounterTable> m_Tables;
  std::string               m_Footnote;
  std::vector<Run>          m_Rows;
  /** What went wrong, by the row's name. */
  std::map<std::string, std::string> m_Failures;
};

} // namespace bench

#endif
