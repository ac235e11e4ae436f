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
    const { longest } = this;
    const percent = { low: 0, high: 1, unit: "%" };
    // "image" is the one chosen of "images"; "amount" is what the slider sets.
    this.modes = [
      { name: "wipe", title: "Wipe", key: "w", images: PAIRS, image: 1, amountName: "Dividing line", amount: 0.6, ...percent },
      { name: "checkerboard", title: "Checkerboard", key: "c", images: PAIRS, image: 1,
        amountName: "Side of a tile", amount: longest / 9, low: longest / 40, high: longest / 3, unit: "mm" },
    ];
    if (data.field) {
      this.modes.push({ name: "grid", title: "Grid", key: "g", images: SINGLES, image: 1,
        amountName: "Line spacing", amount: longest / 25, low: longest / 60, high: longest / 8, unit: "mm" });
    }
    if (data.jacobian) {
      this.modes.push({ name: "jacobian", title: "Jacobian", key: "j", images: SINGLES, image: 0,
        amountName: "Opacity of the map", amount: 0.7, ...percent });
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
    const heights = [1.35 * width];
    // A single plane is wide: all of it is to fit into the window.
    if (this.planes.length === 1) heights.push(Math.max(420, 0.8 * innerHeight));
    const scale = Math.min(
      ...this.planes.map((plane) => (width - 2 * MARGIN.x) / plane.length[0]),
      ...heights.map((height) => (height - 2 * MARGIN.y) / tallest),
    );
    for (const plane of this.planes) {
      plane.layOut(scale, Math.round(scale * (stacked ? plane.length[1] : tallest) + 2 * MARGIN.y));
    }
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
}
