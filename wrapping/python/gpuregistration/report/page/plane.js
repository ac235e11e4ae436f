// SPDX-License-Identifier: Apache-2.0
// One plane: its slice in the chosen view, the labels round it, and what moves the crosshair from it.
const MARGIN = { x: 26, y: 22 };

class Plane {
  constructor(spec, viewer) {
    Object.assign(this, spec);
    this.viewer = viewer;
    const { size, spacing } = viewer.data;
    this.count = [size[this.h], size[this.v]];
    this.unit = [spacing[this.h], spacing[this.v]];
    this.length = [this.count[0] * this.unit[0], this.count[1] * this.unit[1]];
    this.buffers = [0, 1].map(() => document.createElement("canvas"));

    this.root = document.createElement("div");
    this.root.className = "plane";
    this.root.innerHTML = `<h3></h3><div class="box"><canvas tabindex="0" role="application"></canvas>
      <span class="left"></span><span class="right"></span><span class="upper"></span><span class="lower"></span>
      <span class="first"></span><span class="second"></span><span class="ruler"></span></div>
      <input type="range" min="0" step="1">`;
    this.canvas = this.root.querySelector("canvas");
    this.heading = this.root.querySelector("h3");
    this.heading.append(this.name, document.createElement("span"));
    for (const [style, text] of [["left", this.left], ["right", this.right], ["upper", this.top], ["lower", this.bottom]]) {
      this.root.querySelector(`.${style}`).textContent = text;
    }
    this.canvas.setAttribute("aria-label", `${this.name} plane: arrow keys move the crosshair, Page Up and Page Down the slice`);
    this.slider = this.root.querySelector("input");
    this.slider.max = size[this.n] - 1;
    this.slider.hidden = size[this.n] < 2;
    this.slider.setAttribute("aria-label", `${this.name} slice`);
    this.slider.addEventListener("input", () => viewer.moveAxis(this.n, this.sliderIndex(Number(this.slider.value))));
    this.listen();
  }

  // A slider runs with the patient's axis, whatever the image's does.
  sliderIndex(value) {
    return this.nflip ? this.viewer.data.size[this.n] - 1 - value : value;
  }

  // Where a position in voxels along the plane's axes is on the canvas, and back.
  toX(i) { return this.origin[0] + this.scale * this.unit[0] * (this.hflip ? this.count[0] - 0.5 - i : i + 0.5); }
  toY(i) { return this.origin[1] + this.scale * this.unit[1] * (this.vflip ? this.count[1] - 0.5 - i : i + 0.5); }
  fromX(x) {
    const i = (x - this.origin[0]) / (this.scale * this.unit[0]) - 0.5;
    return this.hflip ? this.count[0] - 1 - i : i;
  }
  fromY(y) {
    const i = (y - this.origin[1]) / (this.scale * this.unit[1]) - 0.5;
    return this.vflip ? this.count[1] - 1 - i : i;
  }
  wipeX() { return this.origin[0] + this.viewer.amount("wipe") * this.scale * this.length[0]; }

  // Takes a scale in pixels per mm, and a height.
  layOut(scale, height) {
    const width = this.canvas.parentElement.clientWidth;
    this.scale = scale;
    this.area = [width, height];
    this.origin = [(width - scale * this.length[0]) / 2, (height - scale * this.length[1]) / 2];
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.canvas.style.height = `${height}px`;
    // Labels stand at the image's sides.
    const side = (name, property, value) => { this.root.querySelector(name).style[property] = `${Math.max(3, value)}px`; };
    side(".left", "left", this.origin[0] - 8 - 7 * this.left.length);
    side(".right", "right", this.origin[0] - 8 - 7 * this.right.length);
    side(".upper", "top", this.origin[1] - 18);
    side(".lower", "bottom", this.origin[1] - 18);
    const longest = niceBelow(0.3 * this.length[0]);
    const ruler = this.root.querySelector(".ruler");
    ruler.textContent = `${longest} mm`;
    ruler.style.width = `${longest * scale}px`;
    ruler.hidden = longest * scale < 40;
  }

  // Draws the slice of a volume, from the canvas's origin on.
  drawSlice(context, volume, table, slot) {
    const [h, v, n] = [this.h, this.v, this.n];
    const steps = [1, volume.size[0], volume.size[0] * volume.size[1]];
    const [width, height] = [volume.size[h], volume.size[v]];
    const slice = Math.min(Math.floor(this.viewer.cross[n] / volume.stride[n]), volume.size[n] - 1);
    const buffer = this.buffers[slot];
    if (buffer.width !== width || buffer.height !== height) [buffer.width, buffer.height] = [width, height];
    const target = buffer.getContext("2d");
    const image = target.createImageData(width, height);
    const pixels = new Uint32Array(image.data.buffer);
    const stepH = this.hflip ? -steps[h] : steps[h];
    const stepV = this.vflip ? -steps[v] : steps[v];
    let row = slice * steps[n] + (this.hflip ? (width - 1) * steps[h] : 0) + (this.vflip ? (height - 1) * steps[v] : 0);
    let to = 0;
    for (let y = 0; y < height; ++y, row += stepV) {
      for (let x = 0, from = row; x < width; ++x, from += stepH) pixels[to++] = table[volume.data[from]];
    }
    target.putImageData(image, 0, 0);
    // Blocks may reach over the image's last voxel.
    const w = width * volume.stride[h] * this.unit[0] * this.scale;
    const t = height * volume.stride[v] * this.unit[1] * this.scale;
    const left = this.hflip ? this.origin[0] + this.scale * this.length[0] - w : this.origin[0];
    const upper = this.vflip ? this.origin[1] + this.scale * this.length[1] - t : this.origin[1];
    context.drawImage(buffer, left, upper, w, t);
  }

  draw() {
    const { viewer } = this;
    const context = this.canvas.getContext("2d");
    const ratio = this.canvas.width / this.area[0];
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, ...this.area);
    const box = [...this.origin, this.scale * this.length[0], this.scale * this.length[1]];
    context.imageSmoothingQuality = "high";
    const clipped = (path, paint) => {
      context.save();
      context.beginPath();
      path();
      context.clip();
      paint();
      context.restore();
    };
    const whole = () => context.rect(...box);
    const image = (name, slot) => this.drawSlice(context, viewer.volumes[name], viewer.tables[name], slot);
    const [first, second] = viewer.shown();

    clipped(whole, () => image(first, 0));
    if (viewer.mode === "wipe") {
      const x = this.wipeX();
      clipped(() => context.rect(x, box[1], box[0] + box[2] - x, box[3]), () => image(second, 1));
    } else if (viewer.mode === "checkerboard") {
      const tile = viewer.amount("checkerboard") * this.scale;
      clipped(whole, () => clipped(() => {
        for (let y = 0; y * tile < box[3]; ++y) {
          for (let x = (y + 1) % 2; x * tile < box[2]; x += 2) context.rect(box[0] + x * tile, box[1] + y * tile, tile, tile);
        }
      }, () => image(second, 1)));
    } else if (viewer.mode === "grid") {
      context.fillStyle = "rgba(0, 0, 0, 0.45)";
      context.fillRect(...box);
      this.drawGrid(context);
    } else if (viewer.mode === "jacobian") {
      context.globalAlpha = viewer.amount("jacobian");
      clipped(whole, () => this.drawSlice(context, viewer.jacobian, viewer.jacobianTable, 1));
      context.globalAlpha = 1;
    }
    for (const name of Object.keys(viewer.masks)) {
      if (viewer.checked(`mask-${name}`)) this.drawOutline(context, viewer.masks[name], MASK_COLOURS[name]);
    }
    if (viewer.mode === "wipe") this.drawDivider(context, box);
    if (viewer.checked("crosshair")) this.drawCrosshair(context, box);

    this.root.querySelector(".first").textContent = IMAGE_NAMES[first];
    this.root.querySelector(".second").textContent = second ? IMAGE_NAMES[second] : "";
    const index = viewer.cross[this.n];
    this.slider.value = this.sliderIndex(index);
    this.slider.setAttribute("aria-valuetext", `voxel ${index} along ${"xyz"[this.n]}`);
    const last = viewer.data.size[this.n] - 1;
    this.heading.lastChild.textContent = last > 0 ? `${"xyz"[this.n]} ${index} of 0 to ${last}` : "";
  }

  drawGrid(context) {
    const { viewer } = this;
    const spacing = viewer.amount("grid");
    const position = [...viewer.cross];
    const moved = [0, 0, 0];
    context.strokeStyle = "#7fe3ff";
    context.lineWidth = 1;
    context.save();
    context.beginPath();
    context.rect(0, 0, ...this.area);
    context.clip();
    context.beginPath();
    for (const along of [0, 1]) {
      const across = 1 - along;
      const axes = [this.h, this.v];
      const lines = Math.floor(this.length[across] / 2 / spacing);
      const points = Math.max(2, Math.ceil(this.length[along] * this.scale / 3));
      for (let k = -lines; k <= lines; ++k) {
        position[axes[across]] = (this.length[across] / 2 + k * spacing) / this.unit[across] - 0.5;
        let drawing = false;
        for (let p = 0; p <= points; ++p) {
          position[axes[along]] = p / points * (this.count[along] - 1);
          viewer.field(...position, moved);
          if (!Number.isFinite(moved[0] + moved[1] + moved[2])) { drawing = false; continue; }
          const x = this.toX(position[this.h]) + (this.hflip ? -1 : 1) * moved[this.h] * this.scale;
          const y = this.toY(position[this.v]) + (this.vflip ? -1 : 1) * moved[this.v] * this.scale;
          if (drawing) context.lineTo(x, y); else context.moveTo(x, y);
          drawing = true;
        }
      }
    }
    context.stroke();
    context.restore();
  }

  // The border of a mask, along voxels' sides.
  drawOutline(context, mask, colour) {
    const [h, v, n] = [this.h, this.v, this.n];
    const steps = [1, mask.size[0], mask.size[0] * mask.size[1]];
    const slice = Math.min(Math.floor(this.viewer.cross[n] / mask.stride[n]), mask.size[n] - 1);
    const isIn = (i, j) => i >= 0 && j >= 0 && i < mask.size[h] && j < mask.size[v];
    const at = (i, j) => isIn(i, j) && mask.data[slice * steps[n] + i * steps[h] + j * steps[v]] > 0;
    const x = (i) => this.toX(Math.min(i * mask.stride[h], this.count[0]) - 0.5);
    const y = (j) => this.toY(Math.min(j * mask.stride[v], this.count[1]) - 0.5);
    context.beginPath();
    for (let j = 0; j <= mask.size[v]; ++j) {
      for (let i = 0; i <= mask.size[h]; ++i) {
        const inside = at(i, j);
        if (inside !== at(i - 1, j)) { context.moveTo(x(i), y(j)); context.lineTo(x(i), y(j + 1)); }
        if (inside !== at(i, j - 1)) { context.moveTo(x(i), y(j)); context.lineTo(x(i + 1), y(j)); }
      }
    }
    context.strokeStyle = colour;
    context.lineWidth = 1.4;
    context.stroke();
  }

  drawDivider(context, box) {
    const x = this.wipeX();
    context.strokeStyle = "rgba(0, 0, 0, 0.6)";
    context.lineWidth = 3;
    context.beginPath();
    context.moveTo(x, box[1]);
    context.lineTo(x, box[1] + box[3]);
    context.stroke();
    context.strokeStyle = "#ffffff";
    context.lineWidth = 1.2;
    context.stroke();
    const y = box[1] + box[3] - 12;
    context.fillStyle = "#ffffff";
    context.beginPath();
    for (const sign of [-1, 1]) {
      context.moveTo(x + sign * 10, y);
      context.lineTo(x + sign * 4, y - 5);
      context.lineTo(x + sign * 4, y + 5);
    }
    context.fill();
  }

  drawCrosshair(context, box) {
    const x = this.toX(this.viewer.cross[this.h]);
    const y = this.toY(this.viewer.cross[this.v]);
    context.strokeStyle = "rgba(120, 255, 150, 0.75)";
    context.lineWidth = 1;
    context.beginPath();
    const [left, top, right, bottom] = [box[0], box[1], box[0] + box[2], box[1] + box[3]];
    // Its middle is left open, so that the voxel is seen.
    for (const [a, b, c, d] of [[left, y, x - 7, y], [x + 7, y, right, y], [x, top, x, y - 7], [x, y + 7, x, bottom]]) {
      if (c >= a && d >= b) { context.moveTo(a, b); context.lineTo(c, d); }
    }
    context.stroke();
  }

  listen() {
    const { canvas, viewer } = this;
    let dragging = null;
    // A click on the dividing line, which is not dragged, is meant for the image below it.
    let still = false;
    const place = (event) => {
      const bounds = canvas.getBoundingClientRect();
      return [event.clientX - bounds.left, event.clientY - bounds.top];
    };
    const onDivider = (event) => viewer.mode === "wipe" && Math.abs(place(event)[0] - this.wipeX()) < 8;
    const move = (event) => {
      const [x, y] = place(event);
      if (dragging === "wipe") viewer.setAmount((x - this.origin[0]) / (this.scale * this.length[0]));
      else viewer.moveTo({ [this.h]: Math.round(this.fromX(x)), [this.v]: Math.round(this.fromY(y)) });
    };
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      dragging = onDivider(event) ? "wipe" : "cross";
      still = dragging === "wipe";
      canvas.setPointerCapture(event.pointerId);
      if (dragging === "cross") move(event);
    });
    canvas.addEventListener("pointermove", (event) => {
      canvas.style.cursor = dragging === "wipe" || onDivider(event) ? "ew-resize" : "crosshair";
      if (!dragging) return;
      if (still && Math.abs(event.movementX) < 1) return;
      still = false;
      move(event);
    });
    canvas.addEventListener("pointerup", (event) => {
      if (dragging && still) { dragging = "cross"; move(event); }
      dragging = null;
    });
    canvas.addEventListener("pointercancel", () => { dragging = null; });
    // The wheel turns slices only in the plane that is in use: elsewhere it scrolls the page.
    canvas.addEventListener("wheel", (event) => {
      if (document.activeElement !== canvas || !event.deltaY || event.ctrlKey || viewer.data.size[this.n] < 2) return;
      event.preventDefault();
      viewer.moveAxis(this.n, viewer.cross[this.n] + (event.deltaY < 0 === !this.nflip ? 1 : -1));
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const step = event.shiftKey ? 10 : 1;
      const along = (axis, flip, sign) => viewer.moveAxis(axis, viewer.cross[axis] + (flip ? -sign : sign) * step);
      const keys = {
        ArrowLeft: () => along(this.h, this.hflip, -1), ArrowRight: () => along(this.h, this.hflip, 1),
        ArrowUp: () => along(this.v, this.vflip, -1), ArrowDown: () => along(this.v, this.vflip, 1),
        PageUp: () => along(this.n, this.nflip, 1), PageDown: () => along(this.n, this.nflip, -1),
      };
      if (!keys[event.key]) return;
      event.preventDefault();
      keys[event.key]();
    });
  }
}
