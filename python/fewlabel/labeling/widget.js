// Draws the state of a session, and sends what was clicked or typed together with the row and the step that it was about.

const KEYS = "1234567890abcdefghijklmopqrtvwxyz"; // of the classes, in their order; n, s and u are taken
const ACTIONS = { n: "not", s: "skip", u: "undo" };

function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  Object.assign(node, attributes);
  node.append(...children);
  return node;
}

// Whether a key is for an input method, which composes a word: its Enter picks a candidate. Safari has only the code.
function composes(event) {
  return event.isComposing || event.keyCode === 229;
}

// The letter or digit of a key, in lower case; where the keyboard has others there, or digits need Shift, by its place.
function named(event) {
  const key = event.key.toLowerCase();
  if (/^[a-z0-9]$/.test(key) || event.shiftKey || event.getModifierState("AltGraph")) return key;
  const [, kind, place] = /^(Digit|Key)(.)$/.exec(event.code) ?? [];
  const other = kind && /^(?![a-z])[\p{L}\p{M}]+$/u.test(key); // vowel signs of Thai, two letters of Arabic; not "dead"
  return kind === "Digit" || other ? place.toLowerCase() : key; // other signs stay what they are
}

// Words of the user, in the direction of their script.
function words(text) {
  return make("span", { dir: "auto" }, text);
}

function shape(tag, attributes, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

// The text of a row, with the words marked that speak for the predicted class.
function marked(text, words) {
  const escaped = words.filter(Boolean).map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const any = new RegExp(`(?<![\\p{L}\\p{N}])(${escaped.join("|")})(?![\\p{L}\\p{N}])`, "iu");
  const span = make("span");
  const parts = escaped.length ? text.split(any) : [text];
  parts.forEach((part, k) => span.append(k % 2 ? make("mark", {}, part) : part)); // as arguments, many would be too many
  return span;
}

// The estimate and its interval against the number of labels.
function plot(history) {
  const [width, height, left, bottom, blue] = [340, 120, 40, 18, "#4c8bf5"];
  const most = history.at(-1)[0];
  const x = (labels) => left + ((width - left - 8) * labels) / most;
  const y = (share) => 6 + (height - bottom - 6) * (1 - share);
  const points = (k) => history.map((fit) => `${x(fit[0])},${y(fit[k])}`);
  const end = { "text-anchor": "end" };
  return shape("svg", { viewBox: `0 0 ${width} ${height}`, "font-size": 11, fill: "currentColor" },
    ...[0, 0.5, 1].flatMap((s) => [
      shape("line", { x1: left, x2: width - 8, y1: y(s), y2: y(s), stroke: "currentColor", opacity: 0.2 }),
      shape("text", { x: left - 4, y: y(s) + 4, ...end }, `${100 * s} %`),
    ]),
    shape("polygon", { points: [...points(2), ...points(3).reverse()].join(" "), fill: blue, opacity: 0.2 }),
    shape("polyline", { points: points(1).join(" "), fill: "none", stroke: blue, "stroke-width": 2 }),
    ...history.map((fit) => shape("circle", { cx: x(fit[0]), cy: y(fit[1]), r: 2.5, fill: blue })),
    shape("text", { x: width - 8, y: height - 4, ...end }, `${most} labels`));
}

function render({ model, el }) {
  const root = make("div", { className: "fewlabel", tabIndex: 0 });
  let negative = false; // the next class is one that the row does not have
  let drawn = null; // the state that is on the screen
  let sent = null; // the state that was answered: a second key before the next state is not for it
  let broken = null; // the state whose image cannot be read
  let early = 0; // keys since the last answer that came before the row that they would be for
  const opened = new Set(); // titles of what is unfolded

  function ready() {
    if (!drawn.busy && sent !== drawn) return true;
    early += 1;
    root.querySelector(".message").textContent = message(drawn);
    return false;
  }

  function message(state) {
    const ignored = early ? `${early === 1 ? "a key" : `${early} keys`} came before the next row, without effect: press again` : "";
    return [state.message, ignored].filter(Boolean).join(" · ");
  }

  function send(action, value) {
    if (!ready()) return;
    model.send({ do: action, value, row: drawn.row, step: drawn.step });
    sent = drawn;
    early = 0;
    negative = false;
    root.focus();
  }

  function answer(action, value) {
    if (drawn.row !== null && !drawn.hidden) send(action, value);
  }

  function choose(k) {
    if (k < drawn.classes.length) answer(negative ? "not" : "label", drawn.classes[k][0]);
  }

  function act(action) {
    if (action === "not") {
      if (!ready()) return;
      negative = !negative;
      draw();
    } else if (action === "undo" || drawn.row !== null) send(action);
  }

  function button(key, text, onclick, ...more) {
    const children = key ? [make("kbd", { dir: "ltr" }, key), text, ...more] : [text, ...more];
    return make("button", { type: "button", dir: "auto", onclick }, ...children);
  }

  function classButtons(state) {
    return state.classes.map(([name, count], k) => {
      const one = button(KEYS[k], name, () => choose(k), make("span", { className: "count" }, ` ${count}`));
      one.title = state.descriptions?.[k] ?? "";
      one.disabled = state.row === null || state.hidden;
      one.classList.toggle("predicted", name === state.predicted);
      one.classList.toggle("on", negative);
      return one;
    });
  }

  // A field and a button that take a text; keys in it are not those of the classes.
  function field(placeholder, text, take) {
    const input = make("input", { placeholder, dir: "auto", ariaLabel: placeholder });
    const done = () => input.value.trim() && take(input.value.trim());
    input.onkeydown = (event) => {
      event.stopPropagation();
      const plain = !(event.ctrlKey || event.metaKey || event.altKey || event.repeat || composes(event));
      if (event.key === "Enter" && plain) done();
    };
    return [input, button("", text, done)];
  }

  function folded(title, ...children) {
    const all = make("details", { open: opened.has(title) }, make("summary", {}, title), ...children);
    all.ontoggle = () => (all.open ? opened.add(title) : opened.delete(title));
    return all;
  }

  function answers(state) {
    const list = state.answers.map(([row, label, text]) => make("div", {}, button("", label, () => send("show", row)),
      make("span", { className: "small" }, " ", words(row), " ", words(text))));
    return folded("answers: click to change one", make("div", { className: "answers" }, ...list));
  }

  function editing(state) {
    const from = make("select", { dir: "auto", ariaLabel: "class", onkeydown: (event) => event.stopPropagation() },
      ...state.classes.map(([name]) => make("option", { dir: "auto" }, name)));
    const to = field("new name, or another class", "rename or merge", (name) => send("rename", [from.value, name]));
    if (!state.descriptions) return folded("rename or merge classes", from, ...to);
    const [text, done] = field("description", "describe", (said) => send("describe", [from.value, said]));
    from.onchange = () => (text.value = state.descriptions[from.selectedIndex]);
    from.onchange();
    return folded("rename, merge or describe classes", from, ...to, make("div", { className: "described" }, text, done));
  }

  // Whether a typed class is another one than those with almost the same name.
  function question([typed, ...known]) {
    const ask = make("div", { className: "buttons ask" }, make("span", {}, words(typed), ": is it the same as"));
    ask.append(...known.map((name) => button("", name, () => answer("label", name))), "or another class?");
    ask.append(button("", "add ", () => answer("add", typed), words(typed)));
    return ask;
  }

  function row(state) {
    if (state.row === null) return "Every row has an answer.";
    if (!state.image) return marked(state.text, state.reasons);
    const onerror = () => {
      broken = state;
      draw();
    };
    return make("img", { onerror, src: `data:image/png;base64,${state.image}`, alt: `row ${state.row}` });
  }

  function parts(state) {
    const not = button("n", "not this class", () => act("not"));
    not.classList.toggle("on", negative);
    const actions = [not, button("s", "skip", () => act("skip")), button("u", "undo", () => act("undo"))];
    const why = state.reasons?.length ? [": ", words(state.reasons.join(", "))] : [];
    const course = state.busy ? ["fitting …"]
      : [`${state.labels} of ${state.rows} rows labeled, ${state.left} until the next fit, row `, words(state.row)];
    const all = [
      make("div", { className: "small course" }, ...course),
      make("div", { className: "shown", dir: "auto" }, row(state)),
      make("div", { className: "small thinks" }, ...(state.answer ? ["answer: ", words(state.answer)]
        : state.predicted ? ["predicted: ", words(state.predicted), ...why] : ["no model yet"])),
      make("div", { className: "buttons" }, ...classButtons(state),
        ...field("new class", "add", (name) => answer("new", name))),
      ...(state.ask ? [question(state.ask)] : []),
      make("div", { className: "buttons" }, ...actions),
      make("div", { className: "message", dir: "auto" }, message(state)),
      make("div", { className: state.stop ? "small stop" : "small", dir: "auto" }, state.status.join(" · ")),
    ];
    if (state.answers.length) all.push(answers(state));
    if (state.classes.length) all.push(editing(state));
    if (state.history.length > 1) all.push(make("div", { className: "plot" }, plot(state.history)));
    return all;
  }

  // The same state where its row cannot be drawn: it can be skipped, but not be answered.
  function hidden(state, reason) {
    return { ...state, hidden: true, image: null, reasons: [], history: [], ask: null, text: `this row cannot be shown: ${reason}` };
  }

  function draw() {
    let state = model.get("state");
    if (broken === state) state = hidden(state, "the browser cannot read its image");
    let all;
    try {
      all = parts(state);
    } catch (reason) {
      state = hidden(state, reason);
      all = parts(state);
    }
    root.classList.toggle("busy", state.busy);
    root.replaceChildren(...all);
    drawn = state;
  }

  root.onkeydown = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || composes(event)) return;
    event.stopPropagation(); // the notebook would take the key for its own
    const key = named(event);
    if (!ACTIONS[key] && !(key.length === 1 && KEYS.includes(key))) return;
    event.preventDefault();
    if (event.repeat) return; // a key that is held down would answer rows that nobody has read
    if (ACTIONS[key]) act(ACTIONS[key]);
    else choose(KEYS.indexOf(key));
  };
  const update = () => {
    sent = null;
    draw();
  };
  model.on("change:state", update);
  draw();
  el.append(root);
  return () => model.off("change:state", update);
}

export default { render };
