// SPDX-License-Identifier: Apache-2.0
// Light or dark: as the system is, or as was chosen, which is kept where the browser lets a file keep anything.
const theme = (() => {
  const key = "registration-report-theme";
  const select = document.getElementById("theme");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const listeners = [];

  function apply() {
    const choice = select.value;
    document.documentElement.dataset.theme = choice === "auto" ? (dark.matches ? "dark" : "light") : choice;
    for (const listener of listeners) listener();
  }

  try {
    const kept = localStorage.getItem(key);
    if (["auto", "light", "dark"].includes(kept)) select.value = kept;
  } catch { /* nothing was kept */ }
  select.addEventListener("change", () => {
    try { localStorage.setItem(key, select.value); } catch { /* it lasts as long as the page */ }
    apply();
  });
  dark.addEventListener("change", apply);
  apply();
  return {
    onChange: (listener) => listeners.push(listener),
    value: (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim(),
  };
})();
