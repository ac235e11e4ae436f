// SPDX-License-Identifier: Apache-2.0
// Makes the viewer's controls: the choice of the view and of the images, sliders, boxes, keys; and the map's legend.
Object.assign(Viewer.prototype, {
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
    const titles = this.modes.map((mode) => [mode.title, mode.key]);
    options(document.getElementById("modes"), "mode", titles, (n) => this.setMode(this.modes[n].name));
    const slider = document.getElementById("amount");
    slider.addEventListener("input", () => {
      const { low, high } = this.current;
      this.setAmount(low + slider.value / 1000 * (high - low));
    });
    this.boxes = {};
    const checks = document.getElementById("checks");
    const entries = [["crosshair", "Crosshair", null]];
    for (const name of Object.keys(this.masks)) {
      entries.push([`mask-${name}`, name === "fixed" ? "Fixed mask" : "Moving mask", MASK_COLOURS[name]]);
    }
    for (const [name, title, colour] of entries) {
      const label = document.createElement("label");
      label.innerHTML = `<input type="checkbox">${colour ? `<i class="swatch" style="border-color:${colour}"></i>` : ""}`;
      label.append(title);
      this.boxes[name] = label.firstChild;
      this.boxes[name].checked = name === "crosshair";
      label.firstChild.addEventListener("change", () => this.draw());
      checks.append(label);
    }
  },

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
    document.getElementById("amount-name").textContent = mode.amountName;
    const decimals = mode.amount < 10 ? lengthDecimals(this.data.spacing) : 0;
    const value = mode.unit === "%" ? `${Math.round(100 * mode.amount)} %` : `${mode.amount.toFixed(decimals)} mm`;
    document.getElementById("amount-value").textContent = value;
    const slider = document.getElementById("amount");
    slider.value = Math.round(1000 * (mode.amount - mode.low) / (mode.high - mode.low));
    slider.setAttribute("aria-valuetext", value);
    document.getElementById("legend").hidden = mode.name !== "jacobian";
    document.getElementById("explain").textContent = this.explanation();
  },

  explanation() {
    const names = {
      fixed: "the fixed image", before: "the moving image before registration", after: "the moving image after registration",
    };
    const [first, second] = this.shown().map((name) => names[name]);
    switch (this.mode) {
      case "wipe":
        return `Left of the line: ${first}. Right of it: ${second}.`;
      case "checkerboard":
        return `Tiles of ${first} (top left) and of ${second} take turns: edges should go on from tile to tile.`;
      case "grid":
        return `A regular grid, its points moved within the plane to where the moving image meets them; behind it, ${first}.`;
      default:
        return `How much space grows (orange) or shrinks (blue) from the fixed image to the moving one; behind it, ${first}.`;
    }
  },

  chooseImages(n) {
    this.current.image = n;
    this.refreshControls();
    this.draw();
  },

  makeLegend() {
    if (!this.data.jacobian) return;
    const { end } = this.data.jacobian;
    const stops = Array.from({ length: 25 }, (_, n) => `rgb(${mapColour(n / 12 - 1).join(",")})`).join(",");
    const marks = [-1, -0.5, 0, 0.5, 1].map((t) => {
      const word = { "-1": "<small>smaller</small>", 0: "<small>unchanged</small>", 1: "<small>larger</small>" }[t] ?? "";
      const sign = { "-1": "≤ ", 1: "≥ " }[t] ?? "";
      return `<span style="left:${50 + 50 * t}%">${sign}${shortNumber(end ** t, 3)}${word}</span>`;
    }).join("");
    const spot = (colour, name) => `<span class="spot"><i style="background:rgb(${colour.join(",")})"></i>${name}</span>`;
    const spots = [spot(FOLDED_COLOUR, "Folded (0 or below)")];
    if (this.jacobian.data.includes(NOT_FINITE)) spots.push(spot(NOT_FINITE_COLOUR, "Not finite"));
    const colours = `<div class="colours" style="background:linear-gradient(to right,${stops})"></div>`;
    document.getElementById("legend").innerHTML =
      `<div class="scale">${colours}<div class="ticks">${marks}</div></div>${spots.join("")}`;
  },

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
  },

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
  },
});
