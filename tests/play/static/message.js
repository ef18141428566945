// One message as an element: made once, changed only where it changed.

export function same(box, html) {
  if (box.dataset.html === html) return;
  box.dataset.html = html;
  const open = [...box.querySelectorAll("details")].map((one) => one.open);
  box.innerHTML = html;
  box.querySelectorAll("details").forEach((one, index) => (one.open = open[index] ?? one.open));
}

export function closeMenus() {
  const open = [...document.querySelectorAll(".tools details[open]")];
  for (const menu of open) menu.open = false;
  return open.length > 0;
}

function colour(one) {
  if (one.app) return "app";
  return `c${[...one.user].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % 5}`;
}

function tag(name, classes, words = "") {
  const element = document.createElement(name);
  element.className = classes;
  element.textContent = words;
  if (name === "button") element.type = "button";
  return element;
}

function tools(one, { inChannel, me, shortcuts }) {
  const box = tag("div", "tools");
  if (inChannel && !one.private) box.append(tag("button", "open-thread", "Reply in thread"));
  const menu = tag("details", "");
  const summary = tag("summary", "", "⋯");
  summary.setAttribute("aria-label", "More actions");
  const items = tag("div", "items");
  for (const [id, words] of Object.entries(shortcuts)) {
    const item = tag("button", "", words);
    item.dataset.shortcut = id;
    items.append(item);
  }
  if (one.user === me) items.append(tag("button", "edit", "Edit message"), tag("button", "delete", "Delete message"));
  if (items.children.length) {
    menu.append(summary, items);
    box.append(menu);
  }
  return box;
}

function frame(one, how) {
  const node = tag("article", "message");
  node.dataset.ts = one.ts;
  const avatar = tag("div", `avatar ${colour(one)}`, one.who[0].toUpperCase());
  avatar.setAttribute("aria-hidden", "true");
  const body = tag("div", "body");
  const by = tag("div", "by");
  by.append(tag("strong", "", one.who));
  if (one.app) by.append(tag("span", "badge", "APP"));
  if (one.guest) by.append(tag("span", "note", "guest"));
  if (one.team) by.append(tag("span", "note", one.team));
  by.append(tag("time", "", one.time), tag("span", "note changed"));
  const replies = tag("button", "replies open-thread");
  body.append(by, tag("div", "private", "Only visible to you"), tag("div", "content"), replies);
  node.append(avatar, body, tools(one, how));
  return node;
}

export function message(one, kept, how) {
  const node = kept ?? frame(one, how);
  const version = JSON.stringify(one);
  if (node.dataset.version === version) return node;
  node.dataset.version = version;
  node.classList.toggle("streaming", one.streaming);
  node.classList.toggle("mine-only", one.private);
  node.querySelector(".private").hidden = !one.private;
  node.querySelector(".changed").textContent = one.edited ? "(edited)" : "";
  same(node.querySelector(".content"), one.html);
  const replies = node.querySelector(".replies");
  replies.hidden = !how.inChannel || !(one.replies || one.busy);
  replies.replaceChildren(one.replies ? `${one.replies} ${one.replies === 1 ? "reply" : "replies"}` : "");
  if (one.busy) replies.append(tag("span", "busy", one.busy.replace(/\s*(…|\.{3})?$/, " …")));
  return node;
}
