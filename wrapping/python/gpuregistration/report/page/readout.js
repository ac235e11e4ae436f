// SPDX-License-Identifier: Apache-2.0
// Shows what is at the crosshair.
Object.assign(Viewer.prototype, {
  readOut() {
    const { data, cross } = this;
    const dimension = data.dimension;
    const decimals = lengthDecimals(data.spacing);
    const signed = (v) => v.toFixed(decimals).replace(/^-(0\.0+)$/, "$1").replace("-", "−");
    const list = (values) => values.map(signed).join(", ");
    const point = data.origin.map((o, r) => o + data.indexToPoint[r].reduce((sum, m, c) => sum + m * cross[c], 0));
    const intensity = (name) => {
      const { low, high } = data.images[name].scale;
      const byte = byteAt(this.volumes[name], cross);
      return (byte === 0 ? "≤ " : byte === 255 ? "≥ " : "") + shortNumber(low + byte / 255 * (high - low), 3);
    };
    const rows = [["Voxel (x, y" + (dimension > 2 ? ", z)" : ")"), cross.slice(0, dimension).join(", ")],
      [dimension > 2 ? "Position in mm (L, P, S)" : "Position in mm", list(point)],
      ["Fixed", intensity("fixed")], ["Moving, before", intensity("before")], ["Moving, after", intensity("after")]];
    if (this.jacobian) {
      const code = byteAt(this.jacobian, cross);
      const value = determinantOf(code, data.jacobian.end);
      rows.push(["Jacobian determinant", code === FOLDED ? "folded" : code === NOT_FINITE ? "not finite"
        : (code === MIDDLE - HALF ? "≤ " : code === MIDDLE + HALF ? "≥ " : "") + shortNumber(value, 3)]);
    }
    if (this.field) {
      const moved = this.field(...cross, [0, 0, 0]);
      const vector = data.indexToPoint.map((row) => row.reduce((sum, m, c) => sum + m / data.spacing[c] * moved[c], 0));
      const length = Math.hypot(...vector);
      rows.push(["Displacement in mm", Number.isFinite(length) ? `${length.toFixed(decimals)} (${list(vector)})` : "not finite"]);
    }
    document.querySelector("#readout tbody").innerHTML = rows
      .map(([name, value]) => `<tr><th>${escapeText(name)}</th><td>${escapeText(value)}</td></tr>`)
      .join("");
  },
});
