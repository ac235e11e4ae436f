// SPDX-License-Identifier: Apache-2.0
#ifndef SpeedupFigure_h
#define SpeedupFigure_h

#include <algorithm>
#include <cmath>
#include <iterator>
#include <ostream>
#include <string>
#include <vector>

namespace bench
{

/** Speedups by size, or other positive numbers by another parameter: panels side by side, with the same lines in each. */
struct SpeedupFigure
{
  struct Panel
  {
    std::string title;
    /** For each line and size; 0 if there is no number. */
    std::vector<std::vector<double>> speedups;
    /** Replaces the figure's sizes, unless it is empty. */
    std::vector<std::string> sizes;
  };

  std::vector<std::string> sizes;
  std::vector<std::string> lines;
  std::vector<Panel>       panels;

  /** Writes the figure as SVG, on a logarithmic scale. */
  void
  Write(std::ostream & os) const;
};

inline void
SpeedupFigure::Write(std::ostream & os) const
{
  const char * const colours[] = { "#0072b2", "#56b4e9", "#009e73", "#e69f00", "#d55e00", "#cc79a7" };
  const double       width = 220, height = 240, top = 30;
  // The scale ends at powers of ten.
  double low = 0, high = 1;
  for (const Panel & panel : panels)
  {
    for (const auto & line : panel.speedups)
    {
      for (const double speedup : line)
      {
        low = speedup > 0 ? std::min(low, std::floor(std::log10(speedup))) : low;
        high = speedup > 0 ? std::max(high, std::ceil(std::log10(speedup))) : high;
      }
    }
  }
  const auto getY = [&](double power) { return top + height * (high - power) / (high - low); };
  const auto writeText = [&](double x, double y, const char * anchor, const auto & text) {
    os << "<text x='" << x << "' y='" << y << "' text-anchor='" << anchor << "'>" << text << "</text>\n";
  };
  os << "<svg xmlns='http://www.w3.org/2000/svg' width='" << 280 * panels.size() + 60
     << "' height='300' font-family='sans-serif' font-size='12'>\n<rect width='100%' height='100%' fill='white'/>\n";
  double left = 50;
  for (const Panel & panel : panels)
  {
    const std::vector<std::string> & labels = panel.sizes.empty() ? sizes : panel.sizes;
    const auto                       getX = [&](std::size_t size) {
      return left + width * (static_cast<double>(size) + 0.5) / static_cast<double>(labels.size());
    };
    writeText(left + width / 2, 18, "middle", panel.title);
    for (double power = low; power <= high; ++power)
    {
      // 1, as fast as ITK, is a black line.
      os << "<path d='M" << left << ' ' << getY(power) << 'h' << width << "' stroke='"
         << (power == 0 ? "black" : "#ccc") << "'/>\n";
      writeText(left - 6, getY(power) + 4, "end", std::pow(10, power));
    }
    for (std::size_t size = 0; size < labels.size(); ++size)
    {
      writeText(getX(size), top + height + 18, "middle", labels[size]);
    }
    for (std::size_t line = 0; line < panel.speedups.size(); ++line)
    {
      os << "<polyline fill='none' stroke-width='2' stroke='" << colours[line % std::size(colours)] << "' points='";
      for (std::size_t size = 0; size < panel.speedups[line].size(); ++size)
      {
        if (const double speedup = panel.speedups[line][size]; speedup > 0)
        {
          os << getX(size) << ',' << getY(std::log10(speedup)) << ' ';
        }
      }
      os << "'/>\n";
    }
    left += 280;
  }
  for (std::size_t line = 0; line < lines.size(); ++line)
  {
    const double y = top + 20 * static_cast<double>(line);
    os << "<path d='M" << left - 52 << ' ' << y << "h16' stroke-width='2' stroke='"
       << colours[line % std::size(colours)] << "'/>\n";
    writeText(left - 30, y + 4, "start", lines[line]);
  }
  os << "</svg>\n";
}

} // namespace bench

#endif
