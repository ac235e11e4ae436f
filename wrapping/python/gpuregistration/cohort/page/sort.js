// SPDX-License-Identifier: Apache-2.0
// Sorts the pairs by a column, and their pictures with them.
const body = document.querySelector("#pairs tbody");
const gallery = document.getElementById("gallery");

function sortBy(column, isRising) {
  const key = (row) => row.cells[column].dataset.value;
  const rows = [...body.rows];
  const isNumeric = rows.every((row) => key(row) === "" || Number.isFinite(Number(key(row))));
  // Unknown values come last in either order.
  const compare = (a, b) => isNumeric ? Number(a) - Number(b) : a.localeCompare(b, "en", { numeric: true });
  rows.sort((a, b) => {
    const [first, second] = [key(a), key(b)];
    if (first === "" || second === "") return (first === "") - (second === "");
    return isRising ? compare(first, second) : compare(second, first);
  });
  body.append(...rows);
  if (!gallery) return;
  const figures = new Map([...gallery.children].map((figure) => [figure.dataset.pair, figure]));
  gallery.append(...rows.map((row) => figures.get(row.dataset.pair)).filter(Boolean));
}

document.querySelectorAll("#pairs thead th").forEach((head, column) => {
  const button = head.querySelector("button");
  if (!button) return;
  button.addEventListener("click", () => {
    const isRising = head.getAttribute("aria-sort") !== "ascending";
    for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", isRising ? "ascending" : "descending");
    sortBy(column, isRising);
  });
});

document.documentElement.dataset.ready = "yes";
