"use strict";
// The page is whole without this: it filters, turns pages, and shows a file of the reader's beside the gallery. It loads nothing
// and sends nothing. Texts of other people's files become text nodes, never markup.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const { machines, questions, words } = data;
  const root = document.documentElement;
  const byId = (id) => document.getElementById(id);
  const make = (name, text = "", fields = {}) => {
    const made = Object.assign(document.createElement(name), fields);
    if (text) made.append(text);
    return made;
  };
  const verdicts = Object.keys(words);

  // Light and dark: as the system has it, until somebody chooses.
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme || (dark.matches ? "dark" : "light")) === "dark";
  const theme = make("button", "", { type: "button" });
  const label = () => { theme.textContent = isDark() ? "Light" : "Dark"; };
  theme.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; label(); });
  dark.addEventListener("change", label);
  label();
  byId("tools").append(theme);

  // Three digits, as the static page has them.
  const digits = (value) => {
    const size = Math.abs(value);
    if (value !== 0 && size < 0.01) return value.toExponential(1).replace("e+", "e");
    return value.toFixed(size >= 99.95 || value === 0 ? 0 : size >= 9.995 ? 1 : size >= 0.9995 ? 2 : size >= 0.0995 ? 3 : 4);
  };
  const heat = ([ratio, , , verdict]) => {
    const depth = Math.min(3, Math.floor(Math.abs(Math.log2(ratio)) * 2)) + 1;
    return verdict === "faster" ? -depth : verdict === "slower" ? depth : 0;
  };

  // What is shown, which the address keeps: a link to it shows the same.
  const state = { vendor: "", virtual: "", kernel: "", since: "", words: "", experiment: "", differing: "", page: 0 };
  let yours = null;
  const matches = (machine) => {
    const kind = machine.virtual === null ? "unknown" : machine.virtual ? "yes" : "no";
    const text = `${machine.name} ${machine.facts}`.toLowerCase();
    return (!state.vendor || machine.vendor === state.vendor)
      && (!state.virtual || kind === state.virtual)
      && (!state.kernel || version(machine.kernel) === state.kernel)
      && (!state.since || machine.day >= state.since)
      && state.words.toLowerCase().split(/\s+/).every((word) => text.includes(word));
  };
  const version = (kernel) => kernel.split(".").slice(0, 2).join(".");
  const asks = (question) => (!state.experiment || question.experiment === state.experiment)
    && (!state.differing || (question.differs ??= isDiffering(question)));
  const isDiffering = ({ cells }) => new Set(cells.filter(Boolean).map((cell) => cell[3])
    .filter((verdict) => verdict === "faster" || verdict === "slower")).size > 1;

  // Columns that fit the window.
  const width = () => matchMedia("(max-width: 760px)").matches ? 2 : data.columns;

  const cellOf = (cell, link) => {
    if (!cell) return make("td", "not measured", { className: "none" });
    const [ratio, low, high, verdict] = cell;
    const inside = link ? make("a", "", { href: link }) : make("div");
    inside.append(make("b", digits(ratio)), make("span", `${digits(low)}–${digits(high)}`), make("i", words[verdict]));
    const field = make("td", "", { className: `heat h${heat(cell)}${link ? "" : " yours"}` });
    field.append(inside);
    return field;
  };
  const headOf = (machine) => {
    const head = make("th", "", { scope: "col" });
    head.append(make("a", machine.name, { href: `machine/${machine.id}.html` }), make("span", machine.facts));
    return head;
  };

  const table = byId("table"), status = byId("status"), pager = byId("pager");
  const draw = () => {
    const chosen = machines.map((machine, at) => at).filter((at) => matches(machines[at]));
    const most = Math.max(1, width() - (yours ? 1 : 0));
    const last = Math.max(0, Math.ceil(chosen.length / most) - 1);
    state.page = Math.min(state.page, last);
    const shown = chosen.slice(state.page * most, (state.page + 1) * most);
    const row = make("tr");
    row.append(make("th", "Question", { scope: "col" }));
    if (yours) {
      const head = make("th", "Yours", { scope: "col", className: "yours" });
      head.append(make("span", yours.facts));
      row.append(head);
    }
    row.append(...shown.map((at) => headOf(machines[at])));
    const head = make("thead");
    head.append(row);
    const bodies = new Map();
    for (const [at, question] of questions.entries()) {
      if (!asks(question)) continue;
      if (!bodies.has(question.experiment)) {
        const body = make("tbody"), kind = make("tr", "", { className: "kind" });
        kind.append(make("th", data.experiments[question.experiment], { scope: "rowgroup", colSpan: shown.length + 1 + (yours ? 1 : 0) }));
        body.append(kind);
        bodies.set(question.experiment, body);
      }
      const line = make("tr"), name = make("th", "", { scope: "row" });
      name.append(make("a", question.contrast, { href: `question/${question.id}.html` }), make("span", question.varying));
      line.append(name);
      if (yours) line.append(cellOf(yours.cells[at], ""));
      line.append(...shown.map((machine) => cellOf(question.cells[machine], `question/${question.id}.html#${machines[machine].id}`)));
      bodies.get(question.experiment).append(line);
    }
    table.replaceChildren(table.caption, head, ...bodies.values());
    const from = chosen.length ? state.page * most + 1 : 0;
    const shared = questions.filter(({ cells }) => cells.filter(Boolean).length > 1).length;
    status.textContent = (bodies.size ? "" : `None of ${shared} questions that several machines answer has opposite verdicts. `) + `Machines ${from} to ${from + Math.max(0, shown.length - 1)} of ${chosen.length}`
      + (chosen.length < machines.length ? `, of ${machines.length} in all` : "") + ", the newest first.";
    back.disabled = state.page === 0;
    on.disabled = state.page === last;
    pager.hidden = last === 0;
    const visible = new Set(chosen.map(String));
    for (const mark of document.querySelectorAll(".dot")) mark.style.display = visible.has(mark.dataset.machine) ? "" : "none";
    for (const figure of document.querySelectorAll(".panels figure")) {
      const marks = [...figure.querySelectorAll(".dot")].filter((mark) => !mark.style.display);
      const [faster, slower] = ["faster", "slower"].map((tone) => marks.filter((mark) => mark.classList.contains(tone)).length);
      const parts = [[faster, "faster on"], [slower, "slower on"], [marks.length - faster - slower, "no verdict on"]];
      figure.querySelector("figcaption span").textContent = parts.filter(([count]) => count).map(([count, word]) => `${word} ${count}`).join(", ");
    }
  };
  const turn = (by) => { state.page += by; draw(); keep(); };
  const back = make("button", "Newer machines", { type: "button" }), on = make("button", "Older machines", { type: "button" });
  back.addEventListener("click", () => turn(-1));
  on.addEventListener("click", () => turn(1));
  pager.append(back, on);

  // Filters, folded where they would take the window.
  const filters = byId("filters"), choices = make("div");
  filters.append(choices);
  filters.open = width() > 2;
  filters.hidden = false;
  const keep = () => {
    const kept = Object.entries(state).filter(([, value]) => value);
    history.replaceState(null, "", kept.length ? `#${new URLSearchParams(kept)}` : location.pathname + location.search);
  };
  const set = (name, value) => { state[name] = value; state.page = 0; draw(); keep(); };
  const fields = {};
  const labelled = (text, field) => {
    const made = make("label", text);
    made.append(field);
    choices.append(made);
  };
  const choice = (name, text, options) => {
    const field = make("select", "", { name });
    field.append(...options.map(([value, words]) => make("option", words, { value })));
    field.addEventListener("change", () => set(name, field.value));
    fields[name] = field;
    labelled(text, field);
  };
  const unique = (values) => [...new Set(values)].sort((a, b) => a.localeCompare(b, "en", { numeric: true })).map((value) => [value, value]);
  choice("vendor", "maker", [["", "any"], ...unique(machines.map((machine) => machine.vendor))]);
  choice("virtual", "virtual", [["", "any"], ["yes", "virtual"], ["no", "bare metal"], ["unknown", "unknown"]]);
  choice("kernel", "kernel", [["", "any"], ...unique(machines.map((machine) => version(machine.kernel)))]);
  const typed = (name, text, type, placeholder) => {
    const field = make("input", "", { name, type, placeholder });
    field.addEventListener("input", () => set(name, field.value));
    fields[name] = field;
    labelled(text, field);
  };
  typed("since", "since", "date", "");
  typed("words", "processor", "search", "EPYC");
  choice("experiment", "experiment", [["", "all"], ...unique(questions.map((question) => question.experiment))]);
  choice("differing", "questions", [["", "all"], ["yes", "where machines disagree"]]);

  const restore = () => {
    const kept = new URLSearchParams(location.hash.slice(1));
    const isPlace = byId(location.hash.slice(1)) !== null;
    for (const name of isPlace ? [] : Object.keys(state)) state[name] = name === "page" ? Number(kept.get(name)) || 0 : kept.get(name) ?? "";
    for (const [name, field] of Object.entries(fields)) field.value = state[name];
    draw();
  };
  addEventListener("hashchange", restore);
  matchMedia("(max-width: 760px)").addEventListener("change", draw);

  // A file of the reader's: unpacked, checked and shown here. A shared file has the bounds of `pagewise gallery --check`.
  const MOST_PACKED = 150000, MOST_UNPACKED = 2 << 20, COVER = "pagewise shared run";
  const unpacked = async (file) => {
    if (file.size > MOST_PACKED) throw new Error(`it has more than ${MOST_PACKED} bytes`);
    const reader = file.stream().pipeThrough(new DecompressionStream("gzip")).getReader();
    const parts = [];
    let size = 0;
    for (;;) {
      const { done, value } = await reader.read().catch(() => { throw new Error("it is no whole gzip file"); });
      if (done) break;
      size += value.length;
      if (size > MOST_UNPACKED) throw new Error(`it unpacks to more than ${MOST_UNPACKED} bytes`);
      parts.push(value);
    }
    return new Blob(parts).text();
  };
  const HEAD = '{\n  "seal": "';
  const checkSeal = async (text) => {
    const start = HEAD.length + 64, rest = text.slice(start + 3);
    if (!text.startsWith(HEAD) || text.slice(start, start + 3) !== '",\n') throw new Error("it is no shared run");
    // A page from plain HTTP has no digest; the shape is checked all the same.
    if (!globalThis.crypto?.subtle) return;
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(COVER + rest)));
    const seal = [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    if (seal !== text.slice(HEAD.length, start)) throw new Error("its seal is broken: it was changed, or is no shared run");
  };
  // A parameter that a run does not name has its usual value.
  const key = ({ experiment, parameters }) => {
    const named = Object.entries(parameters ?? {}).filter(([name, value]) => data.usual[experiment]?.[name] !== value);
    return JSON.stringify([experiment, named.sort(([a], [b]) => a < b ? -1 : 1)]);
  };
  const isCell = (cell) => cell.slice(0, 3).every((number) => Number.isFinite(number) && number > 0) && verdicts.includes(cell[3]);
  const fromShared = async (file) => {
    const text = await unpacked(file);
    await checkSeal(text);
    const run = JSON.parse(text);
    if (run.schema !== 1 || !Array.isArray(run.questions)) throw new Error("it has another shape than a shared run");
    const own = new Map(run.questions.map((question) => [key(question), question]));
    const cells = questions.map((question) => {
      const method = own.get(key(question))?.methods.find((method) => method.method === question.method && method.ratio);
      const cell = method && [method.ratio.ratio, method.ratio.low, method.ratio.high, method.verdict];
      return cell && isCell(cell) ? cell : null;
    });
    return { cells, count: run.questions.length, facts: factsOf(run.machine, run.day) };
  };
  const factsOf = (machine, day) =>
    [machine?.cpu, `Linux ${machine?.kernel}`, day].map((fact, at) => String(fact).slice(0, [64, 22, 10][at])).join(", ");

  // The page of a run carries its main figures: a row for each cell, with the index of its question.
  const MOST_PAGE = 8 << 20;
  const fromPage = async (file) => {
    if (file.size > MOST_PAGE) throw new Error(`it has more than ${MOST_PAGE} bytes`);
    // Its one element of data, which holds no end of an element. The page is not parsed as one: its styles would be refused.
    const found = /<scrip[t] type="application\/json" id="data">([^<]*)<\/scrip[t]>/.exec(await file.text());
    const run = JSON.parse(found?.[1] ?? "null");
    if (!Array.isArray(run?.questions) || !Array.isArray(run.rows) || !Array.isArray(run.columns)) {
      throw new Error("it is no page of a run, or one of another version");
    }
    const place = (name) => run.columns.indexOf(name);
    const at = ["question", "method", "ratio", "ratio_low", "ratio_high", "verdict"].map(place);
    const own = new Map();
    for (const row of run.rows) {
      const [question, method, ...cell] = at.map((column) => row[column]);
      const name = `${run.questions[question] && key(run.questions[question])} ${method}`;
      if (isCell(cell) && !own.has(name)) own.set(name, cell);
    }
    const cells = questions.map((question) => own.get(`${key(question)} ${question.method}`) ?? null);
    return { cells, count: run.questions.length, facts: factsOf(run.machine, run.created) };
  };
  const show = async (file) => {
    yours = await (/\.html?$/i.test(file.name) ? fromPage(file) : fromShared(file));
    state.page = 0;
    draw();
    const both = yours.cells.filter(Boolean).length;
    return `Yours is beside the gallery in the table: ${both} of its ${yours.count} comparisons are here, too. Nothing was sent.`;
  };

  const box = make("div"), input = make("input", "", { type: "file", accept: ".gz,application/gzip,.html,text/html" });
  const about = make("label", "Drop your .json.gz or report.html here, or choose it: ");
  about.append(input);
  const answer = make("p");
  box.append(about, answer);
  byId("drop").append(box);
  const take = async (file) => {
    if (!file) return;
    try {
      answer.role = "status";
      answer.textContent = await show(file);
      byId("matrix").scrollIntoView();
    } catch (error) {
      answer.role = "alert";
      answer.textContent = `${file.name} is not shown: ${error.message}`;
    }
  };
  input.addEventListener("change", () => take(input.files[0]));
  addEventListener("dragover", (event) => { event.preventDefault(); box.classList.add("over"); });
  addEventListener("dragleave", () => box.classList.remove("over"));
  addEventListener("drop", (event) => { event.preventDefault(); box.classList.remove("over"); take(event.dataTransfer.files[0]); });

  restore();
})();
