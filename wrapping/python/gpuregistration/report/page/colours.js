// SPDX-License-Identifier: Apache-2.0
// Colours: greys in a window, the determinant's map, and counts.
const FOLDED = 0, NOT_FINITE = 1, MIDDLE = 128, HALF = 126;
const FOLDED_COLOUR = [255, 45, 214], NOT_FINITE_COLOUR = [70, 200, 110];
const MASK_COLOURS = { fixed: "#ffcf4a", moving: "#4fe0c8" };

// Between the ends of the logarithm: blue where space shrinks, orange where it grows, dark at 1.
const MAP_STOPS = [[-1, 176, 226, 255], [-0.6, 64, 156, 232], [-0.25, 26, 84, 142], [0, 24, 24, 28],
  [0.25, 138, 70, 20], [0.6, 226, 122, 38], [1, 255, 222, 160]];

function mapColour(t) {
  let n = 1;
  while (n < MAP_STOPS.length - 1 && MAP_STOPS[n][0] < t) ++n;
  const [a, b] = [MAP_STOPS[n - 1], MAP_STOPS[n]];
  const w = Math.min(Math.max((t - a[0]) / (b[0] - a[0]), 0), 1);
  return [1, 2, 3].map((c) => Math.round(a[c] + w * (b[c] - a[c])));
}

// Colours as one 32-bit number a pixel: red in the lowest byte.
const pixel = (r, g, b) => (255 << 24 | b << 16 | g << 8 | r) >>> 0;

function mapTable() {
  return Uint32Array.from({ length: 256 }, (_, code) => {
    if (code === FOLDED) return pixel(...FOLDED_COLOUR);
    if (code === NOT_FINITE) return pixel(...NOT_FINITE_COLOUR);
    return pixel(...mapColour((code - MIDDLE) / HALF));
  });
}

// The determinant that a byte of the map stands for.
const determinantOf = (code, end) => Math.exp((code - MIDDLE) / HALF * Math.log(end));

// Greys of bytes, black and white at two of an image's intensities.
function greyTable(scale) {
  return Uint32Array.from({ length: 256 }, (_, byte) => {
    const value = scale.low + byte / 255 * (scale.high - scale.low);
    const grey = Math.round(255 * Math.min(Math.max((value - scale.black) / (scale.white - scale.black || 1), 0), 1));
    return pixel(grey, grey, grey);
  });
}

// Returns the colour of a count by its share of the largest one, from 0 to 1.
function countColour(t) {
  const stops = [0, 1, 2].map((n) => theme.value(`--count-${n}`).split(",").map(Number));
  const [a, b] = t < 0.5 ? [stops[0], stops[1]] : [stops[1], stops[2]];
  const w = t < 0.5 ? 2 * t : 2 * t - 1;
  return a.map((v, c) => Math.round(v + w * (b[c] - v)));
}
