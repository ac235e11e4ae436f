// SPDX-License-Identifier: Apache-2.0
// The linked planes: which view of which images, where the crosshair is, and what is there.
const IMAGE_NAMES = { fixed: "Fixed", before: "Moving, before", after: "Moving, after" };
const PAIRS = [["fixed", "before"], ["fixed", "after"], ["before", "after"]];
const SINGLES = [["fixed"], ["before"], ["after"]];

class Viewer {
  constructor(data) {
    this.data = data;
    this.volumes = {};
    this.masks = {};
    this.cross = data.size.map((n) => Math.floor((n - 1) / 2));
    this.longest = Math.max(...data.size.map((n, a) => (n > 1 ? n * data.spacing[a] : 0)));
    this.modes = [
      { name: "wipe", title: "Wipe", key: "w", images: PAIRS, image: 1, amount: 0.6, title2: "Dividing line", low: 0, high: 1, unit: "%" },
      { name: "checkerboard", title: "Checkerboard", key: "c", images: PAIRS, image: 1, amount: this.longest / 9, title2: "Side of a tile",
        low: this.longest / 40, high: this.longest / 3, unit: "mm" },
    ];
    if (data.field) {
      this.modes.push({ name: "grid", title: "Grid", key: "g", images: SINGLES, image: 1, amount: this.longest / 25, title2: "Line spacing",
        low: this.longest / 60, high: this.longest / 8, unit: "mm" });
    }
    if (data.jacobian) {
      this.modes.push({ name: "jacobian", title: "Jacobian", key: "j", images: SINGLES, image: 0, amount: 0.7, title2: "Opacity of the map", low: 0, high: 1, unit: "%" });
    }
    this.mode = "wipe";
  }

  async load() {
    for (const name of Object.keys(this.data.images)) this.volumes[name] = await unpackVolume(this.data.images[name]);
    for (const name of Object.keys(this.data.masks)) this.masks[name] = await unpackVolume(this.data.masks[name]);
    if (this.data.jacobian) this.jacobian = await unpackVolume(this.data.jacobian);
    if (this.data.field) this.field = await unpackField(this.data.field, this.data.size);
    this.jacobianTable = mapTable();
    const { fixed, before } = this.data.images;
    this.scales = { fixed: fixed.scale, moving: before.scale };
    this.makeTables();
  }

  makeTables() {
    const moving = greyTable(this.scales.moving);
    this.tables = { fixed: greyTable(this.scales.fixed), before: moving, after: moving };
  }

  get current() { return this.modes.find((mode) => mode.name === this.mode); }
  shown() { return this.current.images[this.current.image]; }
  amount(name) { return this.modes.find((mode) => mode.name === name).amount; }
  checked(name) { return Boolean(this.boxes[name]?.checked); }

  setAmount(value) {
    this.current.amount = Math.min(Math.max(value, this.current.low), this.current.high);
    this.refreshControls();
    this.draw();
  }

  moveAxis(axis, index) { this.moveTo({ [axis]: index }); }
  moveTo(where) {
    for (const axis of Object.keys(where)) this.cross[axis] = Math.min(Math.max(where[axis], 0), this.data.size[axis] - 1);
    this.draw();
  }

  setMode(name) {
    if (!this.modes.some((mode) => mode.name === name)) return;
    this.mode = name;
    this.refreshControls();
    this.draw();
  }

  build() {
    const root = document.getElementById("planes");
    root.textContent = "";
    root.classList.toggle("single", this.data.planes.length === 1);
    this.planes = this.data.planes.map((spec) => new Plane(spec, this));
    for (const plane of this.planes) root.append(plane.root);
    this.makeControls();
    this.makeLegend();
    this.makeWindows();
    this.listen();
    this.refreshControls();
    document.getElementById("readout").hidden = false;
    new ResizeObserver(() => this.layOut()).observe(root);
    this.layOut();
  }

  // One scale in all planes, so that they can be compared.
  layOut() {
    const root = document.getElementById("planes");
    const width = this.planes[0].canvas.parentElement.clientWidth;
    if (width < 60) return;
    const stacked = this.planes.length > 1 && root.clientWidth < 1.5 * width;
    const tallest = Math.max(...this.planes.map((plane) => plane.length[1]));
    const scale = Math.min(...this.planes.map((plane) => (width - 2 * MARGIN.x) / plane.length[0]), (1.35 * width - 2 * MARGIN.y) / tallest,
      this.planes.length === 1 ? (Math.max(420, 0.8 * innerHeight) - 2 * MARGIN.y) / tallest : Infinity);
    for (const plane of this.planes) plane.layOut(scale, Math.round(scale * (stacked ? plane.length[1] : tallest) + 2 * MARGIN.y));
    this.drawNow();
  }

  draw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.drawNow(); });
  }

  drawNow() {
    for (const plane of this.planes) plane.draw();
    this.readOut();
  }

  makeControls() {
    const options = (root, name, entries, choose) => {
      const group = document.createElement("div");
      group.className = "options";
      entries.forEach(([title, key], n) => {
        const label = document.createElement("label");
        label.title = `Key ${key.toUpperCase()}`;
        label.innerHTML = `<input type="radio" name="${name}" value="${n}">`;
        label.append(title);
        label.firstChild.addEventListener("change", () => choose(n));
        group.append(label);
      });
      root.querySelector(".options")?.remove();
      root.append(group);
    };
    this.options = options;
    options(document.getElementById("modes"), "mode", this.modes.map((mode) => [mode.title, mode.key]), (n) => this.setMode(this.modes[n].name));
    const slider = document.getElementById("amount");
    slider.addEventListener("input", () => {
      const { low, high } = this.current;
      this.setAmount(low + slider.value / 1000 * (high - low));
    });
    this.boxes = {};
    const checks = document.getElementById("checks");
    const entries = [["crosshair", "Crosshair", null]];
    for (const name of Object.keys(this.masks)) entries.push([`mask-${name}`, name === "fixed" ? "Fixed mask" : "Moving mask", MASK_COLOURS[name]]);
    for (const [name, title, colour] of entries) {
      const label = document.createElement("label");
      label.innerHTML = `<input type="checkbox">${colour ? `<i class="swatch" style="border-color:${colour}"></i>` : ""}`;
      label.append(title);
      this.boxes[name] = label.firstChild;
      this.boxes[name].checked = name === "crosshair";
      label.firstChild.addEventListener("change", () => this.draw());
      checks.append(label);
    }
  }

  refreshControls() {
    const mode = this.current;
    const pairs = document.getElementById("pairs");
    if (pairs.dataset.mode !== mode.name) {
      pairs.dataset.mode = mode.name;
      const short = { fixed: "Fixed", before: "Before", after: "After" };
      pairs.querySelector("legend").textContent = mode.images === PAIRS ? "Images" : "Image behind";
      const title = (names) => (names.length > 1 ? names.map((name) => short[name]).join(" | ") : short[names[0]]);
      this.options(pairs, "pair", mode.images.map((names, n) => [title(names), String(n + 1)]), (n) => this.chooseImages(n));
    }
    pairs.querySelectorAll("input")[mode.image].checked = true;
    document.querySelectorAll("#modes input")[this.modes.indexOf(mode)].checked = true;
    document.getElementById("amount-name").textContent = mode.title2;
    const value = mode.unit === "%" ? `${Math.round(100 * mode.amount)} %` : `${mode.amount.toFixed(mode.amount < 10 ? 1 : 0)} mm`;
    document.getElementById("amount-value").textContent = value;
    const slider = document.getElementById("amount");
    slider.value = Math.round(1000 * (mode.amount - mode.low) / (mode.high - mode.low));
    slider.setAttribute("aria-valuetext", value);
    document.getElementById("legend").hidden = mode.name !== "jacobian";
    document.getElementById("explain").textContent = this.explanation();
  }

  explanation() {
    const names = { fixed: "the fixed image", before: "the moving image before registration", after: "the moving image after registration" };
    const [first, second] = this.shown();
    switch (this.mode) {
      case "wipe": return `Left of the line: ${names[first]}. Right of it: ${names[second]}.`;
      case "checkerboard": return `Tiles of ${names[first]} (top left) and of ${names[second]} take turns: edges should go on from tile to tile.`;
      case "grid": return `A regular grid, its points moved within the plane to where the moving image meets them; behind it, ${names[first]}.`;
      default: return `How much space grows (orange) or shrinks (blue) from the fixed image to the moving one; behind it, ${names[first]}.`;
    }
  }

  chooseImages(n) {
    this.current.image = n;
    this.refreshControls();
    this.draw();
  }

  makeLegend() {
    if (!this.data.jacobian) return;
    const { end } = this.data.jacobian;
    const stops = Array.from({ length: 25 }, (_, n) => `rgb(${mapColour(n / 12 - 1).join(",")})`).join(",");
    const marks = [-1, -0.5, 0, 0.5, 1].map((t) => {
      const word = { "-1": "<small>smaller</small>", 0: "<small>unchanged</small>", 1: "<small>larger</small>" }[t] ?? "";
      return `<span style="left:${50 + 50 * t}%">${{ "-1": "≤ ", 1: "≥ " }[t] ?? ""}${shortNumber(end ** t, 3)}${word}</span>`;
    }).join("");
    const spot = (colour, name) => `<span class="spot"><i style="background:rgb(${colour.join(",")})"></i>${name}</span>`;
    document.getElementById("legend").innerHTML = `<div class="scale"><div class="colours" style="background:linear-gradient(to right,${stops})"></div>
      <div class="ticks">${marks}</div></div>${spot(FOLDED_COLOUR, "Folded (0 or below)")}${this.jacobian.data.includes(NOT_FINITE) ? spot(NOT_FINITE_COLOUR, "Not finite") : ""}`;
  }

  makeWindows() {
    const root = document.querySelector("#windows .windows");
    for (const [name, title] of [["fixed", "Fixed"], ["moving", "Moving"]]) {
      const scale = this.scales[name];
      for (const end of ["black", "white"]) {
        const label = document.createElement("label");
        label.innerHTML = `${title}: ${end} at <output></output><input type="range" min="0" max="255" step="1">`;
        const [output, slider] = label.children;
        slider.value = Math.round(255 * (scale[end] - scale.low) / (scale.high - scale.low));
        const show = () => { output.textContent = shortNumber(scale[end]); };
        slider.addEventListener("input", () => {
          scale[end] = scale.low + slider.value / 255 * (scale.high - scale.low);
          show();
          this.makeTables();
          this.draw();
        });
        show();
        root.append(label);
      }
    }
  }

  readOut() {
    const { data, cross } = this;
    const dimension = data.dimension;
    const signs = (values, decimals) => values.map((v) => v.toFixed(decimals).replace(/^-0(\.0*)?$/, "0$1").replace("-", "−")).join(", ");
    const point = data.origin.map((o, r) => o + data.indexToPoint[r].reduce((sum, m, c) => sum + m * cross[c], 0));
    const intensity = (name) => {
      const { low, high } = data.images[name].scale;
      const byte = byteAt(this.volumes[name], cross);
      return (byte === 0 ? "≤ " : byte === 255 ? "≥ " : "") + shortNumber(low + byte / 255 * (high - low), 3);
    };
    const rows = [["Voxel (x, y" + (dimension > 2 ? ", z)" : ")"), cross.slice(0, dimension).join(", ")],
      [dimension > 2 ? "Position in mm (L, P, S)" : "Position in mm", signs(point, 1)],
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
      rows.push(["Displacement in mm", Number.isFinite(length) ? `${length.toFixed(1)} (${signs(vector, 1)})` : "not finite"]);
    }
    document.querySelector("#readout tbody").innerHTML = rows.map(([name, value]) => `<tr><th>${escapeText(name)}</th><td>${escapeText(value)}</td></tr>`).join("");
  }

  listen() {
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("select, textarea, input[type=text]")) return;
      const key = event.key.toLowerCase();
      const mode = this.modes.find((candidate) => candidate.key === key);
      const { low, high, amount } = this.current;
      if (mode) this.setMode(mode.name);
      else if (["1", "2", "3"].includes(key)) this.chooseImages(Number(key) - 1);
      else if (key === ",") this.setAmount(amount - (high - low) / 40);
      else if (key === ".") this.setAmount(amount + (high - low) / 40);
      else if (key === "x") { this.boxes.crosshair.checked = !this.boxes.crosshair.checked; this.draw(); }
      else return;
      event.preventDefault();
    });
    for (const button of document.querySelectorAll("[data-goto]")) {
      button.addEventListener("click", () => {
        button.dataset.goto.split(",").forEach((index, axis) => { this.cross[axis] = Number(index); });
        this.setMode("jacobian");
        document.getElementById("viewer").scrollIntoView({ block: "start" });
        this.planes[0].canvas.focus({ preventScroll: true });
      });
    }
  }
}
