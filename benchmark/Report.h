// SPDX-License-Identifier: Apache-2.0
#ifndef Report_h
#define Report_h

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench
{

/** Fixed-point text, with as many decimals as four significant digits need. */
inline std::string
Format(double value)
{
  const double magnitude = std::abs(value);
  const int    decimals = magnitude >= 1000 ? 0 : magnitude >= 100 ? 1 : magnitude >= 10 ? 2 : magnitude >= 1 ? 3 : 4;
  char         text[64];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

/** For errors. */
inline std::string
FormatScientific(double value)
{
  char text[64];
  std::snprintf(text, sizeof text, "%.1e", value);
  return text;
}

/** Rows of text in aligned columns: the first ones, which name things, to the left, figures to the right. */
class Table
{
public:
  Table(std::string title, std::size_t namingColumns, std::vector<std::string> header)
    : m_Title(std::move(title))
    , m_NamingColumns(namingColumns)
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
    std::vector<std::size_t> widths(m_Rows.front().size(), 0);
    for (const auto & row : m_Rows)
    {
      for (std::size_t column = 0; column < widths.size(); ++column)
      {
        widths[column] = std::max(widths[column], row.at(column).size());
      }
    }
    os << '\n' << m_Title << '\n';
    for (const auto & row : m_Rows)
    {
      std::string line;
      for (std::size_t column = 0; column < widths.size(); ++column)
      {
        const std::string padding(widths[column] - row[column].size(), ' ');
        line += (column == 0 ? "" : "  ") + (column < m_NamingColumns ? row[column] + padding : padding + row[column]);
      }
      os << line << '\n';
    }
    os << std::flush;
  }

private:
  std::string                           m_Title;
  std::size_t                           m_NamingColumns;
  std::vector<std::vector<std::string>> m_Rows;
};

/** A JSON object or array, as text that grows. */
class Json
{
public:
  static Json
  Object()
  {
    return Json('{', '}');
  }

  static Json
  Array()
  {
    return Json('[', ']');
  }

  Json &
  Add(const std::string & name, const std::string & value)
  {
    return this->AddText(Quote(name) + ": " + Quote(value));
  }

  Json &
  Add(const std::string & name, const char * value)
  {
    return this->Add(name, std::string(value));
  }

  /** null where there is no number. */
  Json &
  Add(const std::string & name, double value)
  {
    char text[64];
    std::snprintf(text, sizeof text, "%.10g", value);
    return this->AddText(Quote(name) + ": " + (std::isfinite(value) ? text : "null"));
  }

  Json &
  Add(const std::string & name, bool value)
  {
    return this->AddText(Quote(name) + (value ? ": true" : ": false"));
  }

  Json &
  Add(const std::string & name, const Json & value)
  {
    return this->AddText(Quote(name) + ": " + value.GetText());
  }

  /** To an array. */
  Json &
  Add(const Json & value)
  {
    return this->AddText(value.GetText());
  }

  std::string
  GetText() const
  {
    return m_Open + m_Body + m_Close;
  }

  /** \throws std::runtime_error if the file cannot be written. */
  void
  Write(const std::string & fileName) const
  {
    std::ofstream file(fileName);
    file << this->GetText() << '\n';
    if (!file.flush())
    {
      throw std::runtime_error("cannot write " + fileName);
    }
  }

private:
  Json(char open, char close)
    : m_Open(1, open)
    , m_Close(1, close)
  {}

  Json &
  AddText(const std::string & text)
  {
    m_Body += (m_Body.empty() ? "" : ",\n") + text;
    return *this;
  }

  static std::string
  Quote(const std::string & text)
  {
    std::string quoted = "\"";
    for (const char c : text)
    {
      if (c == '"' || c == '\\')
      {
        quoted += '\\';
      }
      quoted += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    return quoted + '"';
  }

  std::string m_Open;
  std::string m_Body;
  std::string m_Close;
};

} // namespace bench

#endif
