"use strict";
// The page is whole without this: it adds sorting, toggles and tooltips, and computes no figure.
(() => {
  const make = (name, words, act) => {
    const made = document.createElement(name);
    made.textContent = words;
    if (act) { made.type = "button"; made.addEventListener("click", act); }
    return made;
  };
  const all = (what, within = document) => [...within.querySelectorAll(what)];
  const root = document.documentElement;
  const tools = document.getElementById("tools");

  // Light and dark: as the system has it, until somebody chooses.
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme || (dark.matches ? "dark" : "light")) === "dark";
  const theme = make("button", "", () => { root.dataset.theme = isDark() ? "light" : "dark"; label(); });
  const label = () => { theme.textContent = isDark() ? "Light" : "Dark"; };
  dark.addEventListener("change", label);
  label();
  tools.append(theme);

  // Everything that is folded.
  const folds = all("details");
  if (folds.length) {
    const unfold = make("button", "Unfold all", () => {
      const open = folds.some((fold) => !fold.open);
      folds.forEach((fold) => { fold.open = open; });
      unfold.textContent = open ? "Fold all" : "Unfold all";
    });
    tools.append(unfold);
  }

  // Lines of a chart are put away by their entry of the legend.
  for (const figure of all("figure")) {
    all(".legend li", figure).forEach((entry) => {
      const mark = entry.querySelector("[class^=c]")?.getAttribute("class");
      if (!mark) return;
      const button = make("button", "", () => {
        const hidden = button.getAttribute("aria-pressed") !== "true";
        button.setAttribute("aria-pressed", hidden);
        all(`svg.curves .${mark}`, figure).forEach((shape) => { shape.style.display = hidden ? "none" : ""; });
      });
      button.setAttribute("aria-pressed", "false");
      button.append(...entry.childNodes);
      entry.append(button);
    });
  }

  // Charts by factors: drawn by lengths from zero on, and back. Their numbers are low, high, top and bottom.
  for (const svg of all("svg[data-scale]")) {
    const [low, high, top, bottom] = svg.dataset.scale.split(" ").map(Number);
    const linear = (y) => bottom - (bottom - top) * (low / high) ** (1 - (bottom - y) / (bottom - top));
    const places = ["y1", "y2", "y"];
    const parts = all("line, text, svg", svg).flatMap((part) => places
      .filter((name) => part.hasAttribute(name) && Number(part.getAttribute(name)) < bottom + 3)
      .map((name) => ({ part, name, shift: part.tagName === "text" ? 3 : 0, first: Number(part.getAttribute(name)) })));
    const words = parts.filter(({ part }) => part.tagName === "text");
    const toggle = make("button", "Linear scale", () => {
      const isLinear = toggle.getAttribute("aria-pressed") !== "true";
      toggle.setAttribute("aria-pressed", isLinear);
      for (const { part, name, shift, first } of parts) {
        part.setAttribute(name, isLinear ? linear(first + shift) - shift : first);
      }
      // Words that would touch the ones above them are put away.
      let last = -Infinity;
      for (const { part } of words.toSorted((a, b) => a.first - b.first)) {
        const y = Number(part.getAttribute("y"));
        part.style.display = isLinear && y - last < 12 ? "none" : "";
        if (part.style.display === "") last = y;
      }
    });
    toggle.setAttribute("aria-pressed", "false");
    svg.closest("figure").append(toggle);
  }

  // Floors and lower bounds.
  if (document.querySelector("tbody.aside")) {
    const aside = make("button", "Hide floors and lower bound", () => {
      const hidden = root.classList.toggle("no-aside");
      aside.setAttribute("aria-pressed", hidden);
    });
    aside.setAttribute("aria-pressed", "false");
    tools.append(aside);
  }

  // Sorting: numbers by what they stand for; rows without one stay last. The third click brings the first order back.
  const value = (row, at) => {
    const found = row.cells[at]?.dataset.value;
    return found === undefined ? null : Number(found);
  };
  const sort = (table, head, at) => {
    const next = { none: "ascending", ascending: "descending", descending: "none" }[head.getAttribute("aria-sort") || "none"];
    all("thead th", table).forEach((other) => other.removeAttribute("aria-sort"));
    if (next !== "none") head.setAttribute("aria-sort", next);
    const turn = next === "descending" ? -1 : 1;
    for (const body of table.tBodies) {
      const rows = all("tr:not(.kind)", body);
      rows.forEach((row, order) => { row.dataset.order ??= order; });
      const by = (a, b) => {
        const [x, y] = [value(a, at), value(b, at)];
        if (next === "none" || (x === null && y === null)) return a.dataset.order - b.dataset.order;
        if (x === null || y === null) return x === null ? 1 : -1;
        return turn * (x - y) || a.dataset.order - b.dataset.order;
      };
      rows.sort(by).forEach((row) => body.append(row));
    }
  };
  for (const table of all("table")) {
    all("thead th", table).forEach((head, at) => {
      if (!("sorts" in head.dataset)) return;
      const button = make("button", head.textContent, () => sort(table, head, at));
      head.replaceChildren(button);
    });
  }

  // Tooltips: the titles of drawings, at once, and on a touch.
  const tip = document.getElementById("tip");
  for (const title of all("svg title")) {
    const owner = title.parentElement;
    owner.dataset.tip = title.textContent;
    title.remove();
  }
  // Within a chart the nearest mark speaks.
  const nearest = ({ target, clientX, clientY }) => {
    const chart = target.closest?.("svg.curves");
    const far = (mark) => {
      const box = mark.getBoundingClientRect();
      return Math.hypot(box.x + box.width / 2 - clientX, box.y + box.height / 2 - clientY);
    };
    const shown = chart ? all(".mark[data-tip]", chart).filter((mark) => mark.style.display !== "none") : [];
    const [mark] = shown.toSorted((a, b) => far(a) - far(b));
    return mark && far(mark) < 60 ? mark : undefined;
  };
  const show = (event) => {
    const owner = event.target.closest?.("[data-tip]") ?? nearest(event);
    tip.hidden = !owner;
    if (!owner) return;
    tip.textContent = owner.dataset.tip;
    const { width, height } = tip.getBoundingClientRect();
    const left = Math.min(event.clientX + 12, innerWidth - width - 8);
    const top = event.clientY + 16 + height > innerHeight ? event.clientY - height - 12 : event.clientY + 16;
    // Set one by one: the page forbids itself styles that are written as text.
    tip.style.left = `${Math.max(left, 4)}px`;
    tip.style.top = `${top}px`;
  };
  addEventListener("pointermove", show);
  addEventListener("pointerdown", show);
  addEventListener("keydown", (event) => { if (event.key === "Escape") tip.hidden = true; });
})();
