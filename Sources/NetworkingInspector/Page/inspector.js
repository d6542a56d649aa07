// The page of NetworkInspector. All texts of servers are set as text, never as markup.
"use strict";

const rowHeight = 40;
const model = { calls: new Map(), shown: [], selected: null, open: null, notes: [], parts: [], held: false };
const $ = id => document.getElementById(id);

/** Shows control characters, and characters that change the direction, as their code. */
function visible(text) {
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    character => `\\u{${character.charCodeAt(0).toString(16)}}`);
}

/** Creates an element with attributes and children. A string becomes text. */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key === "onclick") made.addEventListener("click", value);
    else made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.filter(child => child !== null && child !== undefined).map(child =>
    child instanceof Node ? child : document.createTextNode(visible(String(child)))));
  return made;
}

const time = new Intl.DateTimeFormat(undefined, { hourCycle: "h23", hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3 });

function duration(milliseconds) {
  if (milliseconds === null || milliseconds === undefined) return "";
  if (milliseconds < 1) return `${milliseconds.toFixed(2)} ms`;
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  return `${(milliseconds / 1000).toFixed(1)} s`;
}

function bytes(count) {
  if (count === null || count === undefined) return "";
  if (count < 1024) return `${count} B`;
  if (count < 1048576) return `${(count / 1024).toFixed(1)} KiB`;
  return `${(count / 1048576).toFixed(1)} MiB`;
}

// The list. Only the visible rows are in the document.

/** The words of a call that the search finds. A call that changes is a new object. */
function searched(call) {
  call.text ??= `${call.method} ${call.template} ${call.path ?? ""} ${call.endpoint} ${outcome(call)} ${call.state} ${call.reason ?? ""} ${call.source ?? ""}`.toLowerCase();
  return call.text;
}

function isShown(call, filter, words) {
  const active = call.state === "running" || call.state === "waiting";
  if (filter === "active" && !active) return false;
  if (filter === "waiting" && call.state !== "waiting") return false;
  if (filter === "failed" && call.state !== "failed" && call.state !== "cancelled") return false;
  if (filter === "repeated" && call.attempts < 2) return false;
  if (filter === "cache" && !["cache", "revalidated", "joined"].includes(call.source)) return false;
  return words.length === 0 || words.every(word => searched(call).includes(word));
}

function filterCalls() {
  const filter = $("state").value;
  const words = $("search").value.toLowerCase().split(/\s+/).filter(word => word !== "");
  model.shown = [];
  for (const call of model.calls.values()) if (isShown(call, filter, words)) model.shown.push(call);
  model.shown.reverse();  // the calls of a map are in the order of their begins
  const all = model.calls.size;
  $("count").textContent = model.shown.length === all ? `${all} calls` : `${model.shown.length} of ${all} calls`;
  draw();
}

/** Why the call waits, and for how long, or how it ended. */
function reason(call) {
  if (!call.reason || !call.waitsSince || isStatic) return call.reason;
  return `${call.reason}; for ${duration(Math.max(Date.now() - call.waitsSince, 0))} so far`;
}

function outcome(call) {
  const isFault = call.kind && call.kind !== "unacceptableStatus";
  return [call.status, isFault ? call.kind : null].filter(Boolean).join(" ") || call.state;
}

function draw() {
  const list = $("list");
  const space = $("space");
  space.style.height = `${model.shown.length * rowHeight}px`;
  const from = Math.max(Math.floor(list.scrollTop / rowHeight) - 5, 0);
  const to = Math.min(Math.ceil((list.scrollTop + list.clientHeight) / rowHeight) + 5, model.shown.length);
  const visible = model.shown.slice(from, to);
  const begun = Math.min(...visible.map(call => call.begun));
  const ended = Math.max(...visible.map(call => call.begun + (call.duration ?? Date.now() - call.begun)));
  if (visible.length === 0) {
    const hint = model.calls.size === 0 ? "No call has begun." : "No call matches.";
    space.replaceChildren(element("p", { class: "hint none" }, hint));
    return list.removeAttribute("aria-activedescendant");
  }
  space.replaceChildren(...visible.map((call, index) => row(call, from + index, begun, Math.max(ended - begun, 1))));
  const selected = model.shown.find(call => call.number === model.selected);
  if (selected && visible.includes(selected)) list.setAttribute("aria-activedescendant", `call-${selected.number}`);
  else list.removeAttribute("aria-activedescendant");
}

function row(call, index, begun, span) {
  const isOver = call.duration !== null && call.duration !== undefined;
  const taken = call.duration ?? (isStatic ? 0 : Math.max(Date.now() - call.begun, 0));
  const part = element("i", { class: call.state === "failed" ? "failed" : call.state === "waiting" ? "queue" : "wait" });
  part.style.left = `${100 * (call.begun - begun) / span}%`;
  part.style.width = `${Math.max(100 * taken / span, 1)}%`;
  const note = [call.source && call.source !== "network" ? call.source : null, reason(call)].filter(Boolean).join(" · ");
  const second = note || (call.path && call.path !== call.template ? call.path : call.endpoint);
  const made = element("div", {
      class: "row", role: "option", id: `call-${call.number}`, "aria-selected": String(call.number === model.selected),
      "aria-setsize": model.shown.length, "aria-posinset": index + 1, title: [call.path, note].filter(Boolean).join("\n")
    },
    element("span", { class: "method" }, call.method),
    element("span", { class: "path" }, element("b", {}, call.template), element("small", { class: "reason" }, second)),
    element("span", { class: `outcome ${call.state}` }, outcome(call), call.attempts > 1 ? ` ×${call.attempts}` : null),
    element("span", { class: "number" }, isOver ? duration(call.duration) : isStatic ? "" : `${duration(taken)}…`),
    element("span", { class: "number size" }, call.received ? `↓ ${bytes(call.received)}` : call.sent ? `↑ ${bytes(call.sent)}` : ""),
    element("span", { class: "bar timeline" }, part));
  made.style.top = `${index * rowHeight}px`;
  return made;
}

function select(number, opens) {
  model.selected = number;
  const index = model.shown.findIndex(call => call.number === number);
  const list = $("list");
  if (index >= 0) {
    if (index * rowHeight < list.scrollTop) list.scrollTop = index * rowHeight;
    const bottom = (index + 1) * rowHeight - list.clientHeight;
    if (bottom > list.scrollTop) list.scrollTop = bottom;
  }
  draw();
  if (opens) open(number);
}

// One call.

let isFetching = false;
let isStale = false;

/** Shows a call. While its details are fetched, a further change is remembered, so that the newest details are last. */
async function open(number) {
  model.open = number;
  if (isFetching) {
    isStale = true;
    return;
  }
  let details = archived.get(number);
  let fault = null;
  if (!details && !isStatic) {
    isFetching = true;
    try {
      const response = await fetch(`call/${number}`);
      if (response.status === 404) throw new Error("it is no longer kept");
      if (!response.ok) throw new Error(`status ${response.status}`);
      details = await response.json();
    } catch (error) {
      fault = error;
    }
    isFetching = false;
  }
  const call = model.calls.get(number);
  if (model.open === number && call && details) show(call, details);
  else if (model.open === number) show(null, null, fault);
  if (isStale || model.open !== null && model.open !== number) {
    isStale = false;
    if (model.open !== null) open(model.open);
  }
}

let shownText = "";

function show(call, details, fault) {
  const place = $("details");
  const text = JSON.stringify([call, details]);
  const isSame = place.dataset.number === String(model.open) && !place.hidden;
  const selection = getSelection();
  const isSelecting = isSame && !selection.isCollapsed && place.contains(selection.anchorNode);
  if (isSame && (text === shownText || isSelecting)) return;
  shownText = text;
  const scrolled = isSame ? place.scrollTop : 0;
  const opened = isSame ? [...place.querySelectorAll("details")].map(one => one.open) : [];
  place.dataset.number = model.open;
  place.hidden = false;
  $("split").classList.add("isOpen");
  if (call) place.replaceChildren(...describe(call, details));
  else place.replaceChildren(element("p", {}, `The call cannot be shown${fault ? `: ${fault.message}` : ""}.`));
  const made = [...place.querySelectorAll("details")];
  opened.forEach((isOpen, index) => { if (made[index] && isOpen) made[index].open = true; });
  place.scrollTop = scrolled;
  draw();
}

function close() {
  model.open = null;
  $("split").classList.remove("isOpen");
  $("details").hidden = true;
  $("list").focus();
  draw();
}

function describe(call, details) {
  const parts = [
    element("div", { class: "head" },
      element("h2", {}, `${call.method} ${call.template}`),
      element("button", { type: "button", onclick: close, "aria-label": "Close the call" }, "Close")),
    element("p", { class: call.state }, `${outcome(call)}${call.duration === null || call.duration === undefined ? "" : ` in ${duration(call.duration)}`}${call.reason ? `: ${call.reason}` : ""}`),
    element("table", {}, element("tbody", {},
      ...[["Endpoint", call.endpoint], ["URL", details.url], ["Began", time.format(call.begun)], ["Source", call.source], ["Id", details.id], ["Error", details.error]]
        .filter(([, value]) => value).map(([name, value]) => element("tr", {}, element("th", { scope: "row" }, name), element("td", {}, value)))))
  ];
  if (details.attempts.length > 0) parts.push(element("h3", {}, "Time"), ...waterfall(call, details));
  parts.push(element("h3", {}, "What was decided, and why"));
  if (details.omittedSteps > 0) parts.push(element("p", { class: "hint" }, `${details.omittedSteps} earlier steps are not kept`));
  parts.push(steps(details.steps));
  for (const attempt of details.attempts) {
    parts.push(element("h3", {}, `Attempt ${attempt.number}${attempt.duration === null || attempt.duration === undefined ? ", in progress" : ""}`));
    for (const exchange of attempt.exchanges) parts.push(...describeExchange(exchange));
  }
  if (details.messages.length > 0) {
    parts.push(element("h3", {}, "Messages"));
    if (details.omittedMessages > 0) parts.push(element("p", { class: "hint" }, `${details.omittedMessages} earlier messages are not kept`));
    parts.push(element("table", {}, element("tbody", {}, ...details.messages.map(message =>
      element("tr", {}, element("td", { class: "time" }, duration(message.time)), element("td", {}, message.isSent ? "sent" : "received"), element("td", { class: "text" }, message.text))))));
  }
  if (details.curl) {
    const text = element("pre", { tabindex: 0, "aria-label": "The request as a curl command" }, details.curl);
    const copy = element("button", { type: "button", onclick: async () => {
      try {
        await navigator.clipboard.writeText(details.curl);
        copy.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(text);
      }
    } }, "Copy as curl");
    parts.push(element("h3", {}, "As a command"), copy, text);
  }
  return parts.filter(part => part !== null);
}

const phases = { queue: "waiting for a permit or a token", adapting: "adapters", redirect: "redirect", lookup: "name lookup", connect: "connecting", tls: "TLS", wait: "waiting for the response", receive: "receiving", read: "reading" };

function waterfall(call, details) {
  const whole = Math.max(call.duration ?? 0, ...details.attempts.flatMap(attempt => [attempt.begun + (attempt.duration ?? 0), ...attempt.phases.map(phase => phase.begun + phase.duration)]), 0.001);
  const used = new Set();
  const rows = details.attempts.map(attempt => {
    const bar = element("div", { class: "bar", role: "img", "aria-label": attempt.phases.map(phase => `${phases[phase.name]} ${duration(phase.duration)}`).join(", ") });
    for (const phase of attempt.phases) {
      used.add(phase.name);
      const part = element("i", { class: phase.name, title: `${phases[phase.name]}: ${duration(phase.duration)}` });
      part.style.left = `${100 * phase.begun / whole}%`;
      part.style.width = `${100 * phase.duration / whole}%`;
      bar.append(part);
    }
    return element("tr", {}, element("th", { scope: "row" }, attempt.number), element("td", {}, bar, element("small", {}, attempt.phases.map(phase => `${phases[phase.name]} ${duration(phase.duration)}`).join(" · "))), element("td", { class: "time" }, duration(attempt.duration)));
  });
  const legend = element("ul", { class: "legend" }, ...Object.keys(phases).filter(name => used.has(name)).map(name => element("li", {}, element("i", { class: name }), phases[name])));
  return [element("table", { class: "waterfall" }, element("tbody", {}, ...rows)), legend];
}

function steps(list) {
  return element("ol", { class: "steps" }, ...list.map(step =>
    element("li", { class: /^error handlers:|waits|paused/.test(step.text) ? "decision" : null }, element("time", {}, duration(step.time)), element("span", {}, step.text))));
}

function describeExchange(exchange) {
  const made = [
    element("p", {}, element("code", {}, `${exchange.request.method} ${exchange.request.url}`)),
    fields("Request fields", exchange.request.headers)
  ];
  if (exchange.comment) made.push(element("p", { class: "hint" }, exchange.comment));
  if (exchange.request.postData) made.push(...body("Request body", exchange.request.postData.text, exchange.request.postData.mimeType));
  if (exchange.response.status) {
    made.push(element("p", {}, element("b", {}, `${exchange.response.status} ${exchange.response.statusText ?? ""}`), exchange.serverIPAddress ? ` from ${exchange.serverIPAddress}` : null));
    made.push(fields("Response fields", exchange.response.headers));
    const content = exchange.response.content;
    if (content && content.text) made.push(...body("Response body", content.text, content.mimeType, content.encoding));
  } else {
    made.push(element("p", { class: "failed" }, `no response${exchange.response.comment ? `: ${exchange.response.comment}` : ""}`));
  }
  return made;
}

function fields(title, list) {
  if (!list || list.length === 0) return null;
  return element("details", {}, element("summary", {}, `${title} (${list.length})`),
    element("table", {}, element("tbody", {}, ...list.map(field => element("tr", {}, element("th", { scope: "row" }, field.name), element("td", { class: "text" }, field.value))))));
}

const images = ["image/png", "image/jpeg", "image/gif", "image/webp"];

function body(title, text, type, encoding) {
  if (!text) return [];
  const plain = (type ?? "").split(";")[0].trim().toLowerCase();
  if (encoding === "base64" && images.includes(plain) && /^[A-Za-z0-9+/=]*$/.test(text)) {
    return [element("p", {}, `${title} (${plain})`), element("img", { class: "body", alt: title, src: `data:${plain};base64,${text}` })];
  }
  if (plain.endsWith("json") && encoding !== "base64") {
    try {
      return [element("p", {}, `${title} (${plain})`), tree(JSON.parse(text), null, 0)];
    } catch { /* shown as text */ }
  }
  return [element("p", {}, `${title}${plain ? ` (${plain})` : ""}`), element("pre", { tabindex: 0, "aria-label": title }, text)];
}

/** Shows a JSON value. Members of large values are shown in parts. */
function tree(value, key, depth) {
  const name = key === null ? null : element("span", { class: "key" }, `${key}: `);
  if (value === null || typeof value !== "object") return element("div", { class: "leaf text" }, name, JSON.stringify(value));
  const members = Array.isArray(value) ? value.map((item, index) => [index, item]) : Object.entries(value);
  const made = element("details", { class: "tree text" }, element("summary", {}, name, Array.isArray(value) ? `[${members.length}]` : `{${members.length}}`));
  let isFilled = false;
  const fill = () => {
    if (isFilled) return;
    isFilled = true;
    made.append(...members.slice(0, 500).map(([member, item]) => tree(item, member, depth + 1)));
    if (members.length > 500) made.append(element("div", { class: "leaf" }, `and ${members.length - 500} more`));
  };
  made.addEventListener("toggle", () => { if (made.open) fill(); });
  if (depth < 1 && members.length <= 50) {
    made.open = true;
    fill();
  }
  return made;
}

// Sessions and parts.

function drawNotes() {
  $("notes").replaceChildren(...(model.notes.length === 0 ? [element("li", {}, element("span", {}, "nothing has happened"))] : []),
    ...model.notes.slice().reverse().map(note => element("li", {}, element("time", {}, time.format(note.time)), element("span", { class: note.isFault ? "failed" : null }, `${note.part}: ${note.text}`))));
}

function drawParts() {
  $("parts").replaceChildren(...model.parts.map(part =>
    element("div", {}, element("h3", {}, part.kind), element("p", { class: "hint" }, part.name),
      element("table", {}, element("tbody", {}, ...part.facts.map(([name, value]) => element("tr", {}, element("th", { scope: "row" }, name), element("td", {}, value))))))));
  if (model.parts.length === 0) $("parts").append(element("p", { class: "hint" }, "inspector.show(service) shows the parts of a service."));
}

// Changes.

function take(batch) {
  for (const number of batch.removed) model.calls.delete(number);
  for (const call of batch.calls) model.calls.set(call.number, call);
  schedule();
  if (model.open !== null && batch.calls.some(call => call.number === model.open)) open(model.open);
}

let isScheduled = false;
function schedule() {
  if (isScheduled || model.held) return;
  isScheduled = true;
  requestAnimationFrame(() => {
    isScheduled = false;
    filterCalls();
  });
}

function showTab(name) {
  for (const other of ["calls", "parts"]) {
    $(`view-${other}`).hidden = other !== name;
    $(`tab-${other}`).setAttribute("aria-selected", String(other === name));
    $(`tab-${other}`).tabIndex = other === name ? 0 : -1;
  }
  if (name === "calls") draw();
}

function move(step) {
  const index = model.shown.findIndex(call => call.number === model.selected);
  const next = model.shown[Math.min(Math.max(index + step, 0), model.shown.length - 1)];
  if (next) select(next.number, model.open !== null);
}

const content = document.getElementById("content");
const isStatic = content !== null;
const archived = new Map();

$("search").addEventListener("input", filterCalls);
$("state").addEventListener("change", filterCalls);
$("filters").addEventListener("submit", event => event.preventDefault());
$("search").addEventListener("keydown", event => {
  if (event.key !== "ArrowDown" && event.key !== "Enter" || model.shown.length === 0) return;
  event.preventDefault();
  $("list").focus();
  select(model.shown[0].number, event.key === "Enter");
});
// The rows are replaced often, so that a click is found by its place.
$("list").addEventListener("click", event => {
  const list = $("list");
  const call = model.shown[Math.floor((event.clientY - list.getBoundingClientRect().top - list.clientTop + list.scrollTop) / rowHeight)];
  if (call) select(call.number, true);
});
$("list").addEventListener("scroll", () => requestAnimationFrame(draw));
window.addEventListener("resize", () => requestAnimationFrame(draw));
$("pause").addEventListener("click", () => {
  model.held = !model.held;
  $("pause").setAttribute("aria-pressed", String(model.held));
  schedule();
});
for (const name of ["calls", "parts"]) $(`tab-${name}`).addEventListener("click", () => showTab(name));
document.querySelector("[role=tablist]").addEventListener("keydown", event => {
  if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
  const other = $("view-calls").hidden ? "calls" : "parts";
  showTab(other);
  $(`tab-${other}`).focus();
});
$("list").addEventListener("keydown", event => {
  const page = Math.max(Math.floor($("list").clientHeight / rowHeight) - 1, 1);
  const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
  if (event.key in steps) {
    event.preventDefault();
    move(steps[event.key]);
  } else if (event.key === "Enter" && model.selected !== null) {
    open(model.selected).then(() => { if (!$("details").hidden) $("details").focus(); });
  }
});
document.addEventListener("keydown", event => {
  if (event.key === "Escape" && model.open !== null) close();
  if (event.key === "/" && !/^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName)) {
    event.preventDefault();
    $("search").focus();
  }
});

function begin(about) { $("revealed").hidden = !about.isRevealed; }

if (isStatic) {
  const all = JSON.parse(content.textContent);
  begin(all);
  for (const details of all.details) archived.set(details.number, details);
  take({ removed: [], calls: all.calls });
  model.notes = all.notes;
  model.parts = all.parts;
  $("save").hidden = true;
  $("pause").hidden = true;
  $("connection").textContent = "a recording";
} else {
  const source = new EventSource("events");
  source.addEventListener("open", () => { $("connection").textContent = "live"; });
  source.addEventListener("error", () => { $("connection").textContent = "not connected; the program may have ended"; });
  source.addEventListener("about", event => {
    model.calls.clear();
    begin(JSON.parse(event.data));
  });
  source.addEventListener("calls", event => take(JSON.parse(event.data)));
  source.addEventListener("notes", event => { model.notes = JSON.parse(event.data); drawNotes(); });
  source.addEventListener("parts", event => { model.parts = JSON.parse(event.data); drawParts(); });
  // The times of calls in progress.
  setInterval(() => { if (model.shown.some(call => call.duration === null || call.duration === undefined)) draw(); }, 500);
}
drawNotes();
drawParts();
filterCalls();
