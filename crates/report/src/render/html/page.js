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
  root.classList.add("js");
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

  // Sorting: numbers by what they stand for, words by the alphabet; empty fields stay last. The third click brings the first
  // order back.
  const value = (row, at) => {
    const text = row.cells[at]?.dataset.value ?? row.cells[at]?.textContent.trim() ?? "";
    return text === "" || Number.isNaN(Number(text)) ? text || null : Number(text);
  };
  const compare = (x, y) => typeof x === "number" && typeof y === "number" ? x - y
    : String(x).localeCompare(String(y), "en", { numeric: true });
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
        return turn * compare(x, y) || a.dataset.order - b.dataset.order;
      };
      rows.sort(by).forEach((row) => body.append(row));
    }
  };
  for (const table of all("table")) {
    const heads = all("thead th", table);
    // A telephone shows each figure behind its heading.
    for (const row of all("tbody tr:not(.kind)", table)) {
      all("td", row).forEach((cell, at) => {
        const head = heads[at + 1];
        const title = (head?.querySelector("span") ?? head)?.textContent;
        if (title && title !== "Drawing") cell.dataset.title = title;
      });
    }
    heads.forEach((head, at) => {
      if (head.matches(".drawn, :empty") || table.querySelector(".heat")) return;
      head.replaceChildren(make("button", head.textContent, () => sort(table, head, at)));
    });
  }

  // Filtering: a row stays if each word is in it, in the title of its condition or in that of its section. What has no row left
  // is put away, and conditions with one are unfolded.
  const rows = all("main tbody tr:not(.kind)");
  const texts = new Map();
  const text = (row) => {
    const parts = [row.textContent, row.closest("section").querySelector("h2").textContent];
    for (let fold = row.closest("details"); fold; fold = fold.parentElement.closest("details")) {
      parts.push(fold.querySelector("summary").firstChild.textContent);
    }
    return parts.join(" ").toLowerCase();
  };
  const unfolded = new Set();
  const filter = (words) => {
    for (const row of rows) {
      if (!texts.has(row)) texts.set(row, text(row));
      row.hidden = !words.every((word) => texts.get(row).includes(word));
    }
    const left = (part) => part.querySelector("tbody tr:not(.kind, [hidden])") !== null;
    for (const part of all("main tbody, main .scroll, main details, main section")) {
      if (part.querySelector("tbody tr:not(.kind)") || part.matches("tbody")) part.hidden = !left(part);
    }
    unfolded.forEach((fold) => { fold.open = false; });
    unfolded.clear();
    if (!words.length) return;
    for (const fold of all("details[id]:not([open], [hidden])")) {
      fold.open = true;
      unfolded.add(fold);
    }
  };
  if (rows.length > 5) {
    const field = make("input", "");
    field.type = "search";
    field.placeholder = "Filter rows: mmap, cache=hot";
    field.setAttribute("aria-label", "Filter rows");
    field.addEventListener("input", () => filter(field.value.toLowerCase().split(/\s+/).filter(Boolean)));
    tools.append(field);
  }

  // A link to what is folded unfolds it.
  const reveal = () => {
    const target = document.getElementById(location.hash.slice(1));
    for (let fold = target?.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    target?.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  if (location.hash) reveal();

  // What does not fit is scrolled by keys, too.
  for (const box of all(".scroll")) {
    if (box.scrollWidth <= box.clientWidth) continue;
    box.tabIndex = 0;
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", box.querySelector("caption").firstChild.textContent);
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
    const owner = event.target.closest?.("[data-tip], td svg.plot:not(.flame)") ?? nearest(event);
    tip.hidden = !owner;
    if (!owner) return;
    tip.textContent = owner.dataset.tip ?? owner.getAttribute("aria-label");
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
