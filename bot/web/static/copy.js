// The button that copies a link. Without this script the link is in a field, from which it can be copied all the same.
for (const button of document.querySelectorAll("button[data-copies]")) {
  const field = document.getElementById(button.dataset.copies);
  const said = button.parentElement.querySelector("[role=status]");
  button.hidden = false;
  button.addEventListener("click", async () => {
    field.select();
    try {
      await navigator.clipboard.writeText(field.value);
      said.textContent = "Copied";
    } catch {
      said.textContent = "Press Ctrl-C to copy";
    }
  });
}
