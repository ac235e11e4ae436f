// SPDX-License-Identifier: Apache-2.0
// Charts share these: round numbers, their texts, and a chart that is drawn again when its width or the theme changes.
const ENTITIES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escapeText = (text) => String(text).replace(/[&<>"]/g, (c) => ENTITIES[c]);

// The largest of 1, 2 and 5 times a power of ten that is not above a length.
function niceBelow(length) {
  const power = 10 ** Math.floor(Math.log10(length));
  const factor = length / power;
  return Number(((factor >= 5 ? 5 : factor >= 2 ? 2 : 1) * power).toPrecision(3));
}

// Round numbers between two, about so many.
function ticks(low, high, count) {
  if (!(high > low)) return [low];
  const raw = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((f) => f * power).find((s) => s >= raw * 0.999);
  const result = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; ++k) result.push(Number((k * step).toPrecision(12)));
  return result;
}

function shortNumber(value, digits = 4) {
  if (!Number.isFinite(value)) return "not a number";
  if (value === 0) return "0";
  const size = Math.abs(value);
  const text = size >= 1e6 || size < 1e-4 ? value.toExponential(Math.max(0, digits - 1)).replace(/\.?0+e/, "e").replace("e+", "e")
    : Number(value.toPrecision(digits)).toLocaleString("en", { maximumFractionDigits: 10 });
  return text.replace(/-/g, "−");
}

// Returns how many decimals of mm show less than a voxel of such edges: one where they are of some tenths of a mm at least.
function lengthDecimals(spacing) {
  return Math.min(20, 1 + Math.max(0, Math.floor(-Math.log10(Math.min(...spacing)))));
}

// Texts of ticks, all with as many decimals as their step needs.
function tickTexts(values) {
  const step = values.length > 1 ? Math.abs(values[1] - values[0]) : 0;
  const size = Math.max(...values.map(Math.abs));
  if (size >= 1e6 || (size < 1e-3 && size > 0)) return values.map((v) => shortNumber(v, 3));
  let decimals = 0;
  while (step && decimals < 8 && Math.abs(step * 10 ** decimals - Math.round(step * 10 ** decimals)) > 1e-6) ++decimals;
  const format = { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
  return values.map((v) => (step ? v.toLocaleString("en", format).replace(/-/g, "−") : shortNumber(v)));
}

// Draws with `draw(width)`, which gives an SVG's inside and height.
function chart(root, label, draw) {
  let width = 0;
  const redraw = () => {
    width = root.clientWidth;
    if (width < 50) return;
    const { inside, height } = draw(width);
    const name = `role="img" aria-label="${escapeText(label)}"`;
    root.innerHTML = `<svg viewBox="0 0 ${width} ${height}" height="${height}" ${name}>${inside}</svg>`;
  };
  root.classList.add("chart");
  new ResizeObserver(() => { if (root.clientWidth !== width) redraw(); }).observe(root);
  theme.onChange(redraw);
  redraw();
}

const at = (value) => value.toFixed(1);
const text = (x, y, content, anchor = "middle", more = "") =>
  `<text x="${at(x)}" y="${at(y)}" text-anchor="${anchor}" ${more}>${escapeText(content)}</text>`;
const line = (x1, y1, x2, y2, style) => `<line class="${style}" x1="${at(x1)}" y1="${at(y1)}" x2="${at(x2)}" y2="${at(y2)}"/>`;
const dot = (x, y, radius) => `<circle class="dot halo" r="${radius}" cx="${at(x)}" cy="${at(y)}"/>`;
