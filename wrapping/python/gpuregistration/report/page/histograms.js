// SPDX-License-Identifier: Apache-2.0
// Joint histograms before and after: fixed intensities to the right, moving ones up, counts as colours.
function showHistograms(data) {
  const root = document.getElementById("histograms");
  const { bins } = data.histograms;
  const largest = Math.max(...data.histograms.before, ...data.histograms.after, 1);
  const share = (count) => (count ? 0.12 + 0.88 * Math.log(count) / Math.log(Math.max(largest, 2)) : 0);
  const scales = [data.images.fixed.scale, data.images.before.scale];

  // One pixel a bin; the browser enlarges it.
  const cells = (counts) => {
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = bins;
    const context = canvas.getContext("2d");
    const image = context.createImageData(bins, bins);
    const table = Array.from({ length: 256 }, (_, n) => countColour(n / 255));
    for (let f = 0; f < bins; ++f) {
      for (let m = 0; m < bins; ++m) {
        image.data.set([...table[Math.round(255 * share(counts[f * bins + m]))], 255], 4 * ((bins - 1 - m) * bins + f));
      }
    }
    context.putImageData(image, 0, 0);
    return canvas.toDataURL();
  };

  for (const [name, title] of [["before", "Before"], ["after", "After"]]) {
    const counts = data.histograms[name];
    const part = document.createElement("div");
    part.innerHTML = `<h3>${title}</h3><div></div><p class="chart-note"></p>`;
    root.append(part);
    const [, area, note] = part.children;
    let frame = null;
    chart(area, `Joint histogram ${title.toLowerCase()} registration`, (width) => {
      const marks = scales.map(({ low, high }) => ticks(low, high, 5));
      const texts = marks.map(tickTexts);
      const left = 30 + 7 * Math.max(...texts[1].map((t) => t.length));
      const side = Math.min(width - left - 18, 460);
      frame = { left, top: 8, side, width };
      const x = (v) => left + (v - scales[0].low) / (scales[0].high - scales[0].low) * side;
      const y = (v) => 8 + side - (v - scales[1].low) / (scales[1].high - scales[1].low) * side;
      const square = `x="${left}" y="8" width="${side}" height="${side}"`;
      const parts = [
        `<image class="cells" href="${cells(counts)}" ${square} preserveAspectRatio="none"/>`,
        `<rect class="axis" ${square}/>`,
      ];
      marks[0].forEach((v, n) => {
        parts.push(line(x(v), 8 + side, x(v), 13 + side, "axis"), text(x(v), 27 + side, texts[0][n]));
      });
      marks[1].forEach((v, n) => {
        parts.push(line(left - 5, y(v), left, y(v), "axis"), text(left - 8, y(v) + 4, texts[1][n], "end"));
      });
      const middle = 8 + side / 2;
      const name = `Moving intensity, ${title.toLowerCase()}`;
      parts.push(
        text(left + side / 2, 46 + side, "Fixed intensity", "middle", 'class="strong"'),
        text(12, middle, name, "middle", `class="strong" transform="rotate(-90 12 ${middle})"`),
      );
      return { inside: parts.join(""), height: side + 54 };
    });
    const bar = () => {
      const stops = Array.from({ length: 9 }, (_, n) => `rgb(${countColour(0.12 + 0.88 * n / 8).join(",")})`).join(",");
      const colours = `<i class="counts" style="background:linear-gradient(to right,${stops})"></i>`;
      return `1 ${colours} ${largest.toLocaleString("en")} voxels in a bin`;
    };
    const idle = () => { note.innerHTML = bar(); };
    idle();
    theme.onChange(idle);
    area.addEventListener("pointermove", (event) => {
      const bounds = area.getBoundingClientRect();
      const f = Math.floor((event.clientX - bounds.left - frame.left) / frame.side * bins);
      const m = bins - 1 - Math.floor((event.clientY - bounds.top - frame.top) / frame.side * bins);
      if (f < 0 || m < 0 || f >= bins || m >= bins) { idle(); return; }
      const border = (k, { low, high }) => shortNumber(low + k / bins * (high - low), 3);
      const range = (k, scale) => `${border(k, scale)} to ${border(k + 1, scale)}`;
      const count = counts[f * bins + m].toLocaleString("en");
      note.textContent = `Fixed ${range(f, scales[0])}, moving ${range(m, scales[1])}: ${count} voxels`;
    });
    area.addEventListener("pointerleave", idle);
  }
}
