const one = (selector, within = document) => within.querySelector(selector);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
// A row that a link names is shown, whatever fold or filter hides it.
let uncover = () => {};
const reveal = () => {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  if (target.closest("[hidden]")) uncover();
  for (let fold = target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  if (target.matches("article, .study")) target.scrollIntoView({ block: "start" });
};

const zoom = one("#zoom"), pane = one(".pane", zoom), larger = one("#scale", zoom);
const enlarge = (on) => { pane.classList.toggle("large", on); larger.setAttribute("aria-pressed", on); };
document.addEventListener("click", (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  const figure = event.target.closest("a.zoom");
  if (!figure) return;
  event.preventDefault();
  const image = one("img", pane);
  image.src = figure.href;
  image.alt = one("img", figure).alt;
  one("#page-of-figure").href = figure.href;
  enlarge(false);
  zoom.showModal();
});
larger.addEventListener("click", () => enlarge(!pane.classList.contains("large")));
pane.addEventListener("click", () => enlarge(!pane.classList.contains("large")));

// From a disk the clipboard may be closed; then the text is put into a field and taken from there, or shown to be taken by hand.
const put = async (text, place) => {
  try { await navigator.clipboard.writeText(text); return true; } catch { /* below */ }
  const area = document.createElement("textarea");
  area.value = text;
  area.readOnly = true;
  area.setAttribute("aria-label", "Text to copy");
  place.append(area);
  area.select();
  let done = false;
  try { done = document.execCommand("copy"); } catch { /* shown */ }
  if (done) area.remove();
  return done;
};
const citations = one("#citations").dataset;
const texts = {
  latex: (row) => `${citations.head}${row.dataset.latex}\n${citations.foot}`,
  bibtex: (row) => all("#citations span").find((paper) => paper.dataset.paper === row.dataset.paper).dataset.entry,
};
for (const place of all(".copy")) place.hidden = false;
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const place = button.parentElement, said = one("output", place);
  for (const area of all("textarea", place)) area.remove();
  said.textContent = await put(texts[button.dataset.copy](button.closest("article")), place) ? "copied" : "copy it by hand:";
});

const root = document.documentElement;
const store = (value) => { try { return value === undefined ? localStorage.getItem("theme") : localStorage.setItem("theme", value); } catch { return null; } };
const theme = store();
if (theme) root.dataset.theme = theme;
one("#theme").addEventListener("click", () => {
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  store(root.dataset.theme);
});

let closed = [];
addEventListener("beforeprint", () => {
  closed = all("main details:not([open])");
  for (const fold of closed) fold.open = true;
  for (const image of all("img")) image.loading = "eager";
});
addEventListener("afterprint", () => { for (const fold of closed) fold.open = false; });
