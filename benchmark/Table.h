// SPDX-License-Identifier: Apache-2.0
#ifndef Table_h
#define Table_h

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ostream>
#include <string>
#include <vector>

namespace bench
{

/** Formats a number with as many decimals as four significant digits need; none for an integer. */
inline std::string
Format(double value)
{
  const double magnitude = std::abs(value);
  const int    decimals = value == std::floor(value) || magnitude >= 1000 ? 0
                          : magnitude >= 100                              ? 1
                          : magnitude >= 10                               ? 2
                          : magnitude >= 1                                ? 3
                                                                          : 4;
  char         text[64];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

/** Formats an error in scientific notation. */
inline std::string
FormatScientific(double value)
{
  char text[64];
  std::snprintf(text, sizeof text, "%.1e", value);
  return text;
}

/** Returns the width of UTF-8 text in characters. */
inline std::size_t
GetWidth(const std::string & text)
{
  return static_cast<std::size_t>(
    std::count_if(text.begin(), text.end(), [](unsigned char byte) { return (byte & 0xC0) != 0x80; }));
}

/** Rows of text in aligned columns: names, in the first column, to the left, figures to the right. A column without a figure in any row
 *  is left out, and a table without rows is not printed. */
class Table
{
public:
  /** Stands for a missing figure. */
  inline static const std::string none = "-";

  Table(std::string title, std::vector<std::string> header)
    : m_Title(std::move(title))
    , m_Rows{ std::move(header) }
  {}

  void
  AddRow(std::vector<std::string> row)
  {
    m_Rows.push_back(std::move(row));
  }

  void
  Print(std::ostream & os) const
  {
    if (m_Rows.size() == 1)
    {
      return;
    }
    std::vector<std::string> lines(m_Rows.size());
    for (std::size_t column = 0; column < m_Rows.front().size(); ++column)
    {
      const auto hasFigure = [&](const auto & row) { return row[column] != none; };
      if (std::none_of(m_Rows.begin() + 1, m_Rows.end(), hasFigure))
      {
        continue;
      }
      std::size_t width = 0;
      for (const auto & row : m_Rows)
      {
        width = std::max(width, GetWidth(row[column]));
      }
      for (std::size_t n = 0; n < lines.size(); ++n)
      {
        const std::string padding(width - GetWidth(m_Rows[n][column]), ' ');
        lines[n] += column == 0 ? m_Rows[n][0] + padding : "  " + padding + m_Rows[n][column];
      }
    }
    os << '\n' << m_Title << '\n';
    for (const std::string & line : lines)
    {
      os << line << '\n';
    }
  }

private:
  std::string                           m_Title;
  std::vector<std::vector<std::string>> m_Rows;
};

} // namespace bench

#endif
