// Draws the state of a session, and sends what was clicked or typed together with the row that it was about.

const KEYS = "1234567890abcdefghijklmopqrtvwxyz"; // of the classes, in their order; n, s and u are taken
const ACTIONS = { n: "not", s: "skip", u: "undo" };

function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  Object.assign(node, attributes);
  node.append(...children);
  return node;
}

// The text of a row, with the words marked that speak for the predicted class.
function marked(text, words) {
  if (!words.length) return [text];
  const escaped = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const parts = text.split(new RegExp(`(?<![\\p{L}\\p{N}])(${escaped.join("|")})(?![\\p{L}\\p{N}])`, "iu"));
  return parts.map((part, k) => (k % 2 ? make("mark", {}, part) : part));
}

// The estimate and its interval against the number of labels.
function plot(history) {
  const [width, height, left, bottom] = [340, 120, 40, 18];
  const most = history.at(-1)[0];
  const x = (labels) => left + ((width - left - 8) * labels) / most;
  const y = (share) => 6 + (height - bottom - 6) * (1 - share);
  const points = (k) => history.map((fit) => `${x(fit[0])},${y(fit[k])}`);
  const ticks = [0, 0.5, 1].map(
    (s) => `<line x1="${left}" x2="${width - 8}" y1="${y(s)}" y2="${y(s)}" stroke="currentColor" opacity=".2"/>
      <text x="${left - 4}" y="${y(s) + 4}" text-anchor="end">${100 * s} %</text>`,
  );
  const dots = history.map((fit) => `<circle cx="${x(fit[0])}" cy="${y(fit[1])}" r="2.5" fill="#4c8bf5"/>`);
  return `<svg viewBox="0 0 ${width} ${height}" font-size="11" fill="currentColor">${ticks.join("")}
    <polygon points="${[...points(2), ...points(3).reverse()].join(" ")}" fill="#4c8bf5" opacity=".2"/>
    <polyline points="${points(1).join(" ")}" fill="none" stroke="#4c8bf5" stroke-width="2"/>${dots.join("")}
    <text x="${width - 8}" y="${height - 4}" text-anchor="end">${most} labels</text></svg>`;
}

function render({ model, el }) {
  const root = make("div", { className: "fewlabel", tabIndex: 0 });
  let negative = false; // the next class is one that the row does not have
  let sent = null; // the state that was answered: a second key before the next state is not for it

  function send(action, value) {
    const state = model.get("state");
    if (state.busy || sent === state) return;
    sent = state;
    negative = false;
    model.send({ do: action, value, row: state.row });
    root.focus();
  }

  function choose(k) {
    if (k < model.get("state").classes.length && model.get("state").row !== null) send(negative ? "not" : "label", k);
  }

  function act(action) {
    if (action === "not") {
      negative = !negative;
      draw();
    } else if (action === "undo" || model.get("state").row !== null) send(action);
  }

  function button(key, text, onclick, ...more) {
    const children = key ? [make("kbd", {}, key), text, ...more] : [text, ...more];
    return make("button", { type: "button", onclick }, ...children);
  }

  function classButtons(state) {
    return state.classes.map(([name, count], k) => {
      const one = button(KEYS[k], name, () => choose(k), make("span", { className: "count" }, ` ${count}`));
      one.classList.toggle("predicted", name === state.predicted);
      one.classList.toggle("on", negative);
      return one;
    });
  }

  function newClass() {
    const input = make("input", { placeholder: "new class", ariaLabel: "new class" });
    input.onkeydown = (event) => {
      event.stopPropagation();
      if (event.key === "Enter" && input.value.trim()) send("new", input.value.trim());
    };
    return input;
  }

  function row(state) {
    if (state.row === null) return "Every row has an answer.";
    if (state.image) return make("img", { src: `data:image/png;base64,${state.image}`, alt: `row ${state.row}` });
    return make("span", {}, ...marked(state.text, state.reasons));
  }

  function draw() {
    const state = model.get("state");
    root.classList.toggle("busy", state.busy);
    const not = button("n", "not this class", () => act("not"));
    not.classList.toggle("on", negative);
    const actions = [not, button("s", "skip", () => act("skip")), button("u", "undo", () => act("undo"))];
    const why = state.reasons?.length ? `: ${state.reasons.join(", ")}` : "";
    root.replaceChildren(
      make("div", { className: "small course" }, state.busy ? "fitting …"
        : `${state.labels} of ${state.rows} rows labeled, ${state.left} until the next fit, row ${state.row}`),
      make("div", { className: "shown" }, row(state)),
      make("div", { className: "small thinks" }, state.predicted ? `predicted: ${state.predicted}${why}` : "no model yet"),
      make("div", { className: "buttons" }, ...classButtons(state), newClass()),
      make("div", { className: "buttons" }, ...actions),
      make("div", { className: "message" }, state.message),
      make("div", { className: state.stop ? "small stop" : "small" }, state.status.join(" · ")),
    );
    if (state.history.length > 1) root.append(make("div", { innerHTML: plot(state.history), className: "plot" }));
  }

  root.onkeydown = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    event.stopPropagation(); // the notebook would take the key for its own
    const key = event.key.toLowerCase();
    if (ACTIONS[key]) act(ACTIONS[key]);
    else if (event.key.length === 1 && KEYS.includes(key)) choose(KEYS.indexOf(key));
    else return;
    event.preventDefault();
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
