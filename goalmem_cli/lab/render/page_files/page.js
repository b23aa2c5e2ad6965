"use strict";
// Every text goes into the page as text; nothing here reads a string as markup.
(() => {
  const PAGE = 50;
  const at = (id) => document.getElementById(id);
  const parsed = (id) => JSON.parse(at(id).textContent);
  const index = parsed("index");
  let facts = null;
  let found = [];
  let first = 0;
  let chosen = -1;

  // Controls, and what reorders or breaks a line unseen, become a visible sign.
  const shown = (text) => text.replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]/g, "\ufffd");

  function el(tag, content, attributes) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) element.setAttribute(name, value);
    for (const part of [content].flat(Infinity)) {
      if (part !== null && part !== undefined && part !== "") element.append(typeof part === "string" ? shown(part) : part);
    }
    return element;
  }
  const said = (text) => el("span", String(text), { class: "said" });
  const soft = (text) => el("span", text, { class: "soft" });
  const count = (number, noun, plural) => `${number} ${number === 1 ? noun : plural || noun + "s"}`;
  const nameOf = (subgoals, number) => `S${number + 1} ${subgoals[number] || ""}`.trim();

  // The theme: as the system, then the one that was chosen.
  const themes = { "": "as the system", light: "light", dark: "dark" };
  const theme = at("theme");
  theme.hidden = false;
  theme.addEventListener("click", () => {
    const names = Object.keys(themes);
    const next = names[(names.indexOf(document.documentElement.dataset.theme || "") + 1) % names.length];
    document.documentElement.dataset.theme = next;
    theme.textContent = `Theme: ${themes[next]}`;
  });

  // The filters and the list.
  function fill(id, names, any) {
    const select = at(id);
    select.append(el("option", any, { value: "" }));
    names.forEach((name, number) => select.append(el("option", name, { value: String(number) })));
    if (names.length < 2) select.parentElement.hidden = true;
  }
  const lower = index.questions.map((each) =>
    [each.text, each.gold, ...each.results.map((result) => result[3])].join("\n").toLowerCase());

  function isWanted(each, place, wanted) {
    if (wanted.words.some((word) => !lower[place].includes(word))) return false;
    if (wanted.category !== "" && each.category !== Number(wanted.category)) return false;
    if (wanted.dataset !== "" && each.dataset !== Number(wanted.dataset)) return false;
    if (wanted.outcome === "differs") {
      return ["right", "wrong"].every((outcome) => each.results.some((result) => result[1] === outcome));
    }
    if (wanted.row === "" && wanted.outcome === "") return true;
    return each.results.some(([row, outcome, isRefused]) =>
      (wanted.row === "" || row === Number(wanted.row)) &&
      (wanted.outcome === "" || outcome === wanted.outcome || (wanted.outcome === "refused" && isRefused)));
  }

  function filter() {
    const wanted = { words: at("search").value.toLowerCase().split(/\s+/).filter(Boolean) };
    for (const id of ["dataset", "category", "row", "outcome"]) wanted[id] = at(id).value;
    found = [];
    index.questions.forEach((each, place) => { if (isWanted(each, place, wanted)) found.push(place); });
    first = 0;
    show();
  }

  const SIGNS = { right: "\u2713", wrong: "\u2717", unscored: "?" };
  function mark(outcome, isRefused, name) {
    const text = `${SIGNS[outcome]} ${name}${outcome}${isRefused ? ", refused" : ""}`;
    return el("span", text, { class: `mark ${outcome}` });
  }

  function show() {
    const last = Math.min(first + PAGE, found.length);
    at("list").replaceChildren(...found.slice(first, last).map((place) => {
      const each = index.questions[place];
      const marks = el("span", each.results.map(([row, outcome, isRefused]) =>
        outcome === "retrieved" ? "" : mark(outcome, isRefused, `${index.rows[row]}: `)), { class: "marks" });
      const button = el("button", [said(each.text), marks], { type: "button", "data-place": String(place) });
      if (place === chosen) button.setAttribute("aria-current", "true");
      return el("li", button);
    }));
    at("count").textContent = found.length
      ? `${first + 1} to ${last} of ${count(found.length, "question")}`
      : "No question fits.";
    at("pages").hidden = found.length <= PAGE;
    at("previous").disabled = first === 0;
    at("next").disabled = last === found.length;
  }

  function turnPage(step) {
    first = Math.max(0, first + step * PAGE);
    show();
    const button = at("list").querySelector("button");
    if (button) button.focus();
  }

  // One question.
  function choose(place) {
    chosen = place;
    if (facts === null) facts = parsed("facts");
    const detail = parsed(`detail-${place}`);
    at("detail").replaceChildren(...question(detail));
    for (const button of at("list").querySelectorAll("button")) {
      if (Number(button.dataset.place) === place) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
    }
    history.replaceState(null, "", `#question-${place}`);
    at("detail").focus({ preventScroll: true });
    at("detail").scrollIntoView({ block: "nearest" });
  }

  function pairs(entries) {
    const list = el("dl", [], { class: "pairs" });
    for (const [name, value] of entries) {
      if (value !== null && value !== "") list.append(el("dt", name), el("dd", value));
    }
    return list;
  }

  function factLine(number, place, isCited) {
    const [conversation, labels, speaker, when, text, times] = facts[place];
    return el("li", [
      el("strong", number ? `${number} ` : ""), said(speaker), soft(`, ${when}, ${conversation} ${labels}`.trim()),
      el("br"), said(text), times ? soft(` [${times}]`) : "",
    ], isCited ? { class: "cited" } : {});
  }

  function question(detail) {
    const evidence = el("ul", detail.evidence.map(([label, place]) =>
      place === null ? el("li", said(label)) : factLine(label, place, false)), { class: "facts" });
    return [
      el("h3", said(detail.question)),
      pairs([
        ["gold answer", detail.gold ? said(detail.gold) : soft("none is given")],
        ["answerable", detail.is_unanswerable ? "no: refusing is right" : "yes"],
        ["tempting answer", detail.tempting ? said(detail.tempting) : ""],
        ["category", detail.category],
        ["conversation", said(detail.conversation)],
        ["question's id", said(detail.id)],
        ["evidence", detail.evidence.length ? evidence : soft("none is given")],
      ]),
      ...detail.results.map((result) => result.trace ? answered(result) : retrieved(result, detail)),
    ];
  }

  function scoreLine(scores) {
    return index.labels.filter(([name]) => name in scores).map(([name, label]) => `${label} ${scores[name]}`).join(", ");
  }

  function answered(result) {
    const trace = result.trace;
    const answer = trace.answer === null
      ? soft(`no answer: ${trace.status}${trace.failure ? `, ${trace.failure}` : ""}`)
      : said(trace.answer);
    return el("section", [
      el("h4", [`${index.rows[result.row]} `, mark(result.outcome, result.is_refused, "")]),
      el("p", answer, { class: "answer" }),
      el("p", soft(scoreLine(result.scores))),
      verdictTable(result.verdicts),
      el("details", [el("summary", traceLine(trace)), ...traceParts(trace)], { open: "" }),
    ]);
  }

  function verdictTable(verdicts) {
    if (!verdicts.length) return "";
    const word = (isRight) => (isRight === null ? "unscored" : isRight ? "right" : "wrong");
    return el("details", [
      el("summary", `${count(verdicts.length, "verdict")}: ${verdicts.map((each) => word(each[3])).join(", ")}`),
      el("ul", verdicts.map(([judge, prompt, number, isRight, reply]) =>
        el("li", [`${judge}, ${prompt}, pass ${number}: ${word(isRight)} `, said(reply)]))),
    ]);
  }

  function traceLine(trace) {
    const usage = trace.usage;
    const work = trace.attempts.length ? count(trace.attempts.length, "attempt") : count(trace.actions.length, "action");
    return `Trace: ${work}, ${count(usage.calls, "call")}, ${usage.prompt_tokens} prompt tokens ` +
      `(${usage.cached_tokens} cached), ${usage.completion_tokens} completion tokens, ${usage.seconds.toFixed(1)} s`;
  }

  const bound = (bindings) => Object.entries(bindings).map(([name, values]) => `${name} = ${values.join(", ")}`).join("; ");

  function traceParts(trace) {
    const number = Object.keys(trace.facts).length;
    return [
      pairs([
        ["goal", trace.goal ? said(trace.goal) : ""],
        ["bindings", Object.keys(trace.substitution).length ? said(bound(trace.substitution)) : ""],
        ["computed", trace.calculations.length ? el("ul", trace.calculations.map((found) =>
          el("li", [said(`${found.expression} = ${found.values.join(", ") || found.why}`), soft(` (${found.support}) ${found.how}`)]))) : ""],
        ["planning", trace.planning],
        ["answers as asked", trace.check ? said(trace.check.is_same ? "yes" : trace.check.problem || `no: ${trace.check.differs}`) : ""],
        ["stopped", trace.stopped || ""],
      ]),
      ...trace.attempts.map((attempt) => attemptPart(attempt, trace)),
      ...trace.actions.map((action) => actionPart(action, trace)),
      trace.notes.length ? el("ul", trace.notes.map((note) => el("li", [soft("note: "), said(note)]))) : "",
      number ? el("details", [
        el("summary", `${count(number, "fact")} seen, ${trace.evidence.length} of them the answer's evidence`),
        factList(Object.keys(trace.facts), trace),
      ]) : "",
    ].filter((part) => part !== "");
  }

  function factList(numbers, trace) {
    const known = numbers.filter((number) => number in trace.facts);
    return el("ul", known.map((number) =>
      factLine(number, trace.facts[number], trace.evidence.includes(number))), { class: "facts" });
  }

  function attemptPart(attempt, trace) {
    const subgoals = [...attempt.subgoals, ...attempt.steps.flatMap((step) => step.refined.map((each) => each.subgoal))];
    return el("div", [
      el("h5", [`Attempt ${attempt.breadth}: `, said(attempt.failure || attempt.ending || "under way")]),
      el("ul", attempt.subgoals.map((_, number) => el("li", said(nameOf(subgoals, number))))),
      attempt.goal ? el("p", [soft("then "), said(attempt.goal)]) : "",
      attempt.steps.map((step) => stepPart(step, subgoals, trace)),
    ]);
  }

  function stepPart(step, subgoals, trace) {
    const skipped = step.skipped ? `, ${count(step.skipped, "hit")} too long to show` : "";
    const state = (word, kind, entry) => [el("strong", `${word} `, { class: kind }), said(nameOf(subgoals, entry.subgoal))];
    return el("div", [
      el("strong", `Step ${step.depth}`),
      soft(` ${count(step.new_facts.length, "new fact")}${skipped}, ${count(step.usage.calls, "call")}`),
      el("ul", [
        step.queries.map((query) => el("li", [soft("query: "), said(query)])),
        step.grounded.map((entry) => el("li", [
          state("grounded", "right", entry),
          el("ul", Object.entries(entry.bindings).map(([name, values]) =>
            el("li", [said(`${name} = ${values.join(", ")}`), soft(` (${entry.support[name] || "support unknown"})`)]))),
          entry.notes.map((note) => el("p", [soft("note: "), said(note)])),
          factList(entry.facts, trace),
        ])),
        step.contradicted.map((entry) => el("li", [state("contradicted", "wrong", entry), factList(entry.facts, trace)])),
        step.rejected.map((entry) => el("li", [
          state("rejected", "wrong", entry), el("p", [soft("proposed: "), said(bound(entry.bindings))]),
          el("p", [soft("why: "), said(entry.why)]), factList(entry.facts, trace),
        ])),
        step.denied.map((entry) => el("li", [
          state("denied", "wrong", entry), el("br"), soft("why: "), said(entry.why), factList(entry.facts, trace),
        ])),
        step.unresolved.map((entry) => el("li", [
          state("unresolved", "refused", entry), soft(": "), said(entry.why), factList(entry.nearest.slice(0, 3), trace),
        ])),
        step.several.length ? el("li", [soft("several values: "), said(step.several.join(", "))]) : "",
        Object.keys(step.provisional).length ? el("li", [soft("perhaps: "), said(bound(step.provisional))]) : "",
        step.dropped.map((place) => el("li", [soft("dropped: "), said(nameOf(subgoals, place))])),
        step.opened.map((entry) => el("li", [soft(`S${entry.subgoal + 1} to look for: `), said(entry.queries.join("; "))])),
        step.refined.map((entry) => el("li", [
          soft(`S${entry.of + 1} refined (${entry.relation}): `), said(entry.subgoal), soft(", query: "), said(entry.query),
        ])),
        step.failure ? el("li", [soft("failed: "), said(step.failure)]) : "",
      ]),
    ], { class: "step" });
  }

  function actionPart(action, trace) {
    const skipped = action.skipped ? `, ${count(action.skipped, "hit")} left out` : "";
    return el("div", [
      el("strong", action.name),
      soft(` ${count(action.new_facts.length, "new fact")}${skipped}, ${count(action.usage.calls, "call")}`),
      el("ul", [
        action.queries.map((query) => el("li", [soft("query: "), said(query)])),
        action.said.map(([name, text]) => el("li", [soft(`${name}: `), said(text)])),
        action.failure ? el("li", [soft("failed: "), said(action.failure)]) : "",
      ]),
      action.new_facts.length ? el("details", [el("summary", "new facts"), factList(action.new_facts, trace)]) : "",
    ], { class: "step" });
  }

  function retrieved(result, detail) {
    const { queries, ranks, units } = result.retrieved;
    return el("section", [
      el("h4", index.rows[result.row]),
      el("ul", queries.map((query) => el("li", [soft("query: "), said(query)]))),
      el("ul", detail.evidence.map(([label]) =>
        el("li", [said(label), label in ranks ? `: rank ${ranks[label]}` : `: not among the first ${units}`]))),
      el("p", soft(scoreLine(result.scores))),
    ]);
  }

  fill("dataset", index.datasets, "all");
  fill("category", index.categories, "all");
  fill("row", index.rows, "any");
  const form = at("filters");
  form.hidden = false;
  // A text field changes when it is left too: the list must not be drawn anew under a button that is being pressed.
  at("search").addEventListener("input", filter);
  for (const id of ["dataset", "category", "row", "outcome"]) at(id).addEventListener("change", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  at("clear").addEventListener("click", () => { form.reset(); filter(); });
  at("previous").addEventListener("click", () => turnPage(-1));
  at("next").addEventListener("click", () => turnPage(1));
  at("list").addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button) choose(Number(button.dataset.place));
  });
  at("list").addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const buttons = [...at("list").querySelectorAll("button")];
    const next = step && buttons[buttons.indexOf(document.activeElement) + step];
    if (next) { event.preventDefault(); next.focus(); }
  });
  filter();
  const asked = /^#question-(\d+)$/.exec(location.hash);
  if (asked && Number(asked[1]) < index.questions.length) choose(Number(asked[1]));
})();
