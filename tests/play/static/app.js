// What a person sees and does. The server knows everything; this page knows where the person is.

import { closeMenus, message, same } from "/message.js";
import { showModal } from "/modal.js";

const $ = (id) => document.getElementById(id);
const place = { as: "", channel: "", thread: "" };
let tab = "messages"; // of the conversation with the app
const seen = new Map(); // channel -> newest message that was on screen
const told = new Set(); // messages whose notification was shown, or that are older than this page
const pressed = new Map(); // feedback that was given, as Slack keeps it marked
let shown = null;
let first = true;

// --- talking to the server

export async function act(wish) {
  const body = JSON.stringify({ as: place.as, channel: place.channel, ...wish });
  const response = await fetch("/play/do", { method: "POST", body, headers: { "Content-Type": "application/json" } });
  const answer = response.ok ? await response.json() : { ok: false, error: "That did not work." };
  if (!answer.ok) toast("", answer.error, "wrong");
  return answer;
}

let running = null;
let again = false;

// Resolves when what is shown is as new as this call.
function refresh() {
  again = true;
  running ??= (async () => {
    try {
      while (again) {
        again = false;
        const query = new URLSearchParams({ as: place.as, channel: place.channel, thread: place.thread });
        const response = await fetch(`/play/state?${query}`);
        if (response.ok) show(await response.json());
      }
    } finally {
      running = null;
    }
  })();
  return running;
}

function go(where) {
  const before = { ...place };
  Object.assign(place, where);
  if (place.channel !== before.channel) place.thread = where.thread || "";
  history.replaceState(null, "", `#${[place.as, place.channel, place.thread].join("/")}`);
  return refresh();
}

// --- showing

function show(state) {
  shown = state;
  place.as = state.me;
  place.channel = state.channel.id;
  people(state);
  places(state);
  $("channel").textContent = `${state.channel.mark} ${state.channel.name}`;
  const direct = state.channel.direct;
  tabs(direct, state.home);
  if (state.messages.length) list($("messages"), state.messages, true);
  else same($("messages"), empty(direct));
  prompts($("prompts"), state.messages.length && direct ? null : state.prompts, "");
  thread(state.thread);
  showModal($("modal"), state.modal, act);
  notify(state);
  document.querySelector('.composer[data-place="channel"] textarea').placeholder =
    direct ? `Ask ${state.bot.name}` : `Message #${state.channel.name}`;
  first = false;
}

function tabs(direct, home) {
  const atHome = direct && tab === "home";
  $("tabs").hidden = !direct;
  for (const button of $("tabs").children) button.setAttribute("aria-selected", String(button.dataset.tab === tab));
  $("home").hidden = !atHome;
  for (const node of [$("messages"), $("prompts"), document.querySelector(".composer[data-place=channel]")]) node.hidden = atHome;
  same($("home"), home);
}

function people(state) {
  const options = state.people.map((one) => new Option(one.note ? `${one.name} (${one.note})` : one.name, one.id));
  if ($("as").length !== options.length) $("as").replaceChildren(...options);
  $("as").value = state.me;
}

function places(state) {
  for (const one of state.channels) if (first || one.id === place.channel) seen.set(one.id, one.latest);
  const rows = state.channels.map((one) => {
    const row = document.createElement("li");
    const button = row.appendChild(document.createElement("button"));
    button.type = "button";
    button.dataset.channel = one.id;
    button.append(one.mark, " ", one.name);
    if (one.shared) button.append(note("shared"));
    if (one.id === place.channel) button.setAttribute("aria-current", "page");
    button.classList.toggle("new", one.latest > (seen.get(one.id) || ""));
    return [row, one.direct];
  });
  same($("channels"), rows.filter(([, app]) => !app).map(([row]) => row.outerHTML).join(""));
  same($("apps"), rows.filter(([, app]) => app).map(([row]) => row.outerHTML).join(""));
}

function note(words) {
  const span = document.createElement("span");
  span.className = "note";
  span.textContent = words;
  return span;
}

function empty(direct) {
  const name = shown.bot.name;
  return direct
    ? `<p class="empty">Ask ${name} anything about the documentation. Every question here begins a conversation of its own.</p>`
    : `<p class="empty">Nothing was said here yet. Write <strong>@${name}</strong> and a question, or <strong>/ask</strong> and a question if the answer is for you alone.</p>`;
}

function list(box, messages, inChannel) {
  delete box.dataset.html;
  const atEnd = box.scrollHeight - box.scrollTop - box.clientHeight < 60;
  const kept = new Map([...box.querySelectorAll(":scope > .message")].map((node) => [node.dataset.ts, node]));
  const nodes = messages.map((one) => message(one, kept.get(one.ts), { inChannel, me: shown.me, shortcuts: shown.shortcuts }));
  if (nodes.length !== box.children.length || nodes.some((node, index) => node !== box.children[index])) {
    box.replaceChildren(...nodes);
  }
  for (const button of box.querySelectorAll("[data-chosen]")) {
    const ts = button.closest(".message").dataset.ts;
    button.setAttribute("aria-pressed", pressed.get(`${ts} ${button.dataset.action}`) === button.dataset.chosen);
  }
  if (atEnd) box.scrollTop = box.scrollHeight;
}

function thread(open) {
  const pane = document.querySelector(".thread");
  const fresh = pane.hidden || pane.dataset.root !== (open?.root ?? "");
  pane.hidden = !open;
  pane.dataset.root = open?.root ?? "";
  if (!open) return;
  list($("thread"), open.messages, false);
  if (fresh) $("thread").scrollTop = $("thread").scrollHeight;
  $("title").textContent = open.title;
  $("status").hidden = !open.status && !open.processing;
  $("stop").hidden = !open.processing;
  turn();
  prompts($("threadprompts"), open.prompts, open.root);
}

// The status with its loading messages, one after the other.
function turn() {
  const status = shown?.thread?.status;
  const words = document.querySelector("#status .words");
  if (!status) {
    words.textContent = shown?.thread?.processing ? `${shown.bot.name} is working` : "";
    return;
  }
  const lines = status.loading.length ? status.loading : [`${status.who} ${status.text}`];
  const line = lines[Math.floor(Date.now() / 1800) % lines.length];
  if (words.textContent !== line) words.textContent = line;
}

function prompts(box, offered, root) {
  box.replaceChildren();
  if (!offered) return;
  const title = box.appendChild(document.createElement("div"));
  title.className = "context";
  title.textContent = offered.title;
  for (const prompt of offered.prompts) {
    const button = box.appendChild(document.createElement("button"));
    button.type = "button";
    button.textContent = prompt.title;
    button.addEventListener("click", () => write(prompt.message, root));
  }
}

// What a telephone or a screen reader would say: the message's `text`, not its blocks.
function notify(state) {
  const both = [...state.messages, ...(state.thread?.messages ?? [])];
  for (const one of both.filter((message) => message.app && !message.streaming && !told.has(message.ts))) {
    told.add(one.ts);
    if (!first && one.text) toast(one.who, one.text);
  }
}

function toast(who, words, kind = "") {
  while ($("toasts").children.length > 2) $("toasts").firstChild.remove();
  const box = $("toasts").appendChild(document.createElement("div"));
  box.className = `toast ${kind}`;
  if (who) box.appendChild(document.createElement("strong")).textContent = `Notification from ${who}`;
  box.append(words.length > 160 ? `${words.slice(0, 160)} …` : words);
  setTimeout(() => box.remove(), 6000);
}

// --- doing

async function write(text, thread) {
  const answer = await act({ do: "write", text, thread });
  const mentions = text.toLowerCase().includes(`@${shown.bot.name.toLowerCase()}`);
  if (answer.ok && answer.ts && !thread && (mentions || shown.channel.direct)) {
    await go({ thread: answer.ts });
    document.querySelector(".thread textarea").focus();
  }
}

document.addEventListener("submit", (event) => {
  const form = event.target.closest(".composer");
  if (!form) return;
  event.preventDefault();
  const area = form.querySelector("textarea");
  const text = area.value.trim();
  if (!text) return;
  area.value = "";
  grow(area);
  write(text, form.dataset.place === "thread" ? place.thread : "");
});

document.addEventListener("keydown", (event) => {
  const area = event.target.closest?.(".composer textarea");
  if (area && event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    area.form.requestSubmit();
  } else if (event.key === "Escape" && !$("modal").open && !closeMenus()) {
    go({ thread: "" });
  }
});

function grow(area) {
  area.rows = Math.min(10, area.value.split("\n").length);
}
document.addEventListener("input", (event) => event.target.matches(".composer textarea") && grow(event.target));

document.addEventListener("click", async (event) => {
  const on = (selector) => event.target.closest(selector);
  if (!on("details")) closeMenus();
  const node = on(".message");
  const ts = node?.dataset.ts;
  if (on("[data-channel]")) {
    tab = "messages";
    await go({ channel: on("[data-channel]").dataset.channel, thread: "" });
    if (shown.channel.direct) act({ do: "open" });
  } else if (on("[data-tab]")) {
    tab = on("[data-tab]").dataset.tab;
    await act({ do: "open", tab });
    refresh();
  } else if (on("[data-insert]")) {
    const area = on(".composer").querySelector("textarea");
    if (!area.value.startsWith(on("[data-insert]").dataset.insert)) area.value = on("[data-insert]").dataset.insert + area.value;
    area.focus();
  } else if (on(".open-thread")) {
    await go({ thread: ts });
    document.querySelector(".thread textarea").focus();
  } else if (on("[data-shortcut]")) {
    closeMenus();
    act({ do: "shortcut", ts, shortcut: on("[data-shortcut]").dataset.shortcut });
  } else if (on(".edit")) {
    closeMenus();
    const text = prompt("Edit your message", node.querySelector(".content").innerText.trim());
    if (text) act({ do: "edit", ts, text });
  } else if (on(".delete")) {
    act({ do: "delete", ts });
  } else if (on("#close")) {
    go({ thread: "" });
  } else if (on("#stop")) {
    act({ do: "stop", thread: place.thread });
  } else if (on("button[data-action], a[data-action]")) {
    press(on("[data-action]"), ts, on("[data-action]").dataset.chosen);
  }
});

document.addEventListener("change", (event) => {
  if (event.target === $("as")) {
    go({ as: $("as").value, channel: "", thread: "" });
  } else if (event.target.matches("select[data-action]") && event.target.value) {
    press(event.target, event.target.closest(".message")?.dataset.ts, event.target.value);
  }
});

async function press(element, ts, chosen) {
  const { sure } = element.dataset;
  if (sure && !window.confirm(sure)) return;
  const where = element.closest("#modal") ? "modal" : element.closest("#home") ? "home" : "message";
  if (chosen && element.matches("button")) pressed.set(`${ts} ${element.dataset.action}`, chosen);
  element.disabled = true;
  await act({ do: "press", ts, place: where, action: element.dataset.action, chosen, agrees: Boolean(sure) });
  element.disabled = false;
  refresh();
}

// --- beginning

[place.as, place.channel, place.thread] = [...location.hash.slice(1).split("/"), "", "", ""].slice(0, 3);
const changes = new EventSource("/play/changes");
changes.onmessage = () => refresh().catch(() => {}); // a lost server is told by onerror
changes.onopen = () => document.body.classList.remove("lost");
changes.onerror = () => document.body.classList.add("lost");
setInterval(turn, 900);
setInterval(() => refresh().catch(() => {}), 15000); // a status ends by itself
