// SPDX-License-Identifier: Apache-2.0
// The cost by iteration: a chart for each stage, its levels one after another.
function showCosts(data) {
  const root = document.getElementById("costs");
  const stages = data.stages.filter((stage) => stage.levels.some((level) => level.costs.length));
  if (!root || !stages.length) return;
  root.classList.toggle("two", stages.length > 1);
  for (const stage of stages) {
    const levels = stage.levels.filter((level) => level.costs.length);
    const points = [];
    let start = 0;
    for (const level of levels) {
      level.start = start;
      level.costs.forEach((cost, n) => { if (cost !== null) points.push({ at: start + n, n, cost, level }); });
      start += level.costs.length;
    }
    if (!points.length) continue;
    const total = start;
    // Linear stages report one cost a level.
    const step = levels.every((level) => level.costs.length === 1) ? "Level" : "Iteration";
    const part = document.createElement("div");
    part.innerHTML = "<h3></h3><div></div><p class=\"chart-note\"></p>";
    const [heading, area, note] = part.children;
    heading.textContent = stage.name;
    root.append(part);
    let low = Math.min(...points.map((p) => p.cost));
    let high = Math.max(...points.map((p) => p.cost));
    const margin = high > low ? 0.06 * (high - low) : Math.max(Math.abs(high) * 0.1, 1e-6);
    low -= margin;
    high += margin;
    let place = null;
    let idleText = "";

    chart(area, `Cost by ${step.toLowerCase()}, ${stage.name}`, (width) => {
      const height = Math.round(Math.min(300, Math.max(220, 0.45 * width)));
      const marks = ticks(low, high, 5);
      const texts = tickTexts(marks);
      const left = 32 + 7 * Math.max(...texts.map((t) => t.length));
      const [right, top, bottom] = [width - 18, 26, height - 44];
      const x = (at) => left + (at + 0.5) / total * (right - left);
      const y = (cost) => bottom - (cost - low) / (high - low) * (bottom - top);
      place = { left, right, top, bottom, x, y };
      const parts = [];
      const widths = levels.map((level) => level.costs.length / total * (right - left));
      const named = levels.every((level, n) => 6.8 * level.name.length + 4 < widths[n]);
      levels.forEach((level, n) => {
        const from = left + level.start / total * (right - left);
        if (n % 2 === 0) {
          const width = widths[n].toFixed(1);
          parts.push(`<rect class="band" x="${from.toFixed(1)}" y="${top}" width="${width}" height="${bottom - top}"/>`);
        }
        if (named || widths[n] > 8) parts.push(text(from + widths[n] / 2, top - 8, named ? level.name : String(n + 1)));
      });
      idleText = named ? "" : `Levels: ${levels.map((level, n) => `${n + 1}: ${level.name}`).join("; ")}`;
      if (!note.dataset.busy) note.textContent = idleText;
      marks.forEach((v, n) => parts.push(line(left, y(v), right, y(v), "gridline"), text(left - 8, y(v) + 4, texts[n], "end")));
      for (const v of ticks(1, total, Math.max(2, Math.min(8, (right - left) / 70))).filter(Number.isInteger)) {
        parts.push(line(x(v - 1), bottom, x(v - 1), bottom + 5, "axis"), text(x(v - 1), bottom + 19, v.toLocaleString("en")));
      }
      parts.push(`<path class="axis" d="M${left} ${top}V${bottom}H${right}"/>`);
      for (const level of levels) {
        let path = "";
        level.costs.forEach((cost, n) => {
          if (cost === null) return;
          path += `${n > 0 && level.costs[n - 1] !== null ? "L" : "M"}${x(level.start + n).toFixed(1)} ${y(cost).toFixed(1)}`;
        });
        parts.push(`<path class="curve" d="${path}"/>`);
        const last = level.costs.length - 1;
        if (level.costs[last] !== null) parts.push(dot(x(level.start + last), y(level.costs[last]), 3.5));
      }
      const middle = (top + bottom) / 2;
      parts.push(text((left + right) / 2, height - 6, step, "middle", 'class="strong"'),
        text(12, middle, "Cost", "middle", `class="strong" transform="rotate(-90 12 ${middle})"`));
      return { inside: parts.join(""), height };
    });

    const leave = () => {
      delete note.dataset.busy;
      note.textContent = idleText;
      area.querySelector(".pointer")?.remove();
    };
    area.addEventListener("pointermove", (event) => {
      const at = event.clientX - area.getBoundingClientRect().left;
      if (!place || at < place.left - 5 || at > place.right + 5) { leave(); return; }
      const nearest = points.reduce((best, p) => (Math.abs(place.x(p.at) - at) < Math.abs(place.x(best.at) - at) ? p : best));
      note.dataset.busy = "1";
      const where = step === "Level" ? nearest.level.name : `${nearest.level.name}, its iteration ${nearest.n + 1}`;
      note.textContent = `${where}: ${shortNumber(nearest.cost, 6)}`;
      area.querySelector(".pointer")?.remove();
      const x = place.x(nearest.at);
      const mark = line(x, place.top, x, place.bottom, "axis") + dot(x, place.y(nearest.cost), 4.5);
      area.querySelector("svg").insertAdjacentHTML("beforeend", `<g class="pointer">${mark}</g>`);
    });
    area.addEventListener("pointerleave", leave);
  }
}
