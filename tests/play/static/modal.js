// The modal on top of the person's stack: shown as the app sent it, sent back filled in.

export function showModal(dialog, modal, act) {
  if (!modal) {
    if (dialog.open) dialog.close();
    delete dialog.dataset.version;
    return;
  }
  if (dialog.dataset.version === modal.id + modal.version) return;
  dialog.dataset.version = modal.id + modal.version;
  const form = dialog.querySelector("form");
  const before = dialog.dataset.id === modal.id ? entered(form) : {};
  dialog.dataset.id = modal.id;
  dialog.querySelector("#modaltitle").textContent = modal.title;
  const fields = dialog.querySelector(".fieldset");
  fields.innerHTML = modal.html;
  fields.classList.add("content");
  restore(form, before);
  const [close, submit] = dialog.querySelectorAll("footer button");
  close.textContent = modal.close;
  submit.textContent = modal.submit;
  submit.hidden = !modal.submit;
  close.onclick = () => act({ do: "dismiss" });
  dialog.oncancel = (event) => {
    event.preventDefault();
    act({ do: "dismiss" });
  };
  form.onsubmit = async (event) => {
    event.preventDefault();
    submit.disabled = true;
    await act({ do: "submit", values: entered(form) });
    submit.disabled = false;
  };
  if (!dialog.open) dialog.showModal();
  (fields.querySelector("[role=alert]")?.closest(".input") ?? fields).querySelector("input, select, textarea")?.focus();
}

// By block id: a string, or a list where several can be chosen.
function entered(form) {
  const values = {};
  for (const field of form.elements) {
    if (!field.name) continue;
    const block = field.name.split(" ")[0];
    if (field.type === "checkbox") {
      values[block] ??= [];
      if (field.checked) values[block].push(field.value);
    } else if (field.type === "radio") {
      values[block] ??= null;
      if (field.checked) values[block] = field.value;
    } else if (field.multiple) {
      values[block] = [...field.selectedOptions].map((option) => option.value);
    } else {
      values[block] = field.value;
    }
  }
  return values;
}

function restore(form, values) {
  for (const field of form.elements) {
    const value = values[field.name?.split(" ")[0]];
    if (value === undefined) continue;
    if (field.type === "checkbox") field.checked = value.includes(field.value);
    else if (field.type === "radio") field.checked = value === field.value;
    else if (field.multiple) for (const option of field.options) option.selected = value.includes(option.value);
    else field.value = value;
  }
}
