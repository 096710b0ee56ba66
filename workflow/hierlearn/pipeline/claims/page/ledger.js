const form = one(".filters");
const rows = all("article.row").map((element) => ({ element, text: "", study: element.closest(".study") }));
const keys = ["paper", "kind", "scope", "standing", "rank"];
const field = (key) => one(`#${key}`);
let foldsBefore = null;

const asked = () => {
  const found = { text: field("text").value.trim().toLowerCase(), rank: field("rank").checked ? "primary" : "" };
  for (const key of keys.slice(0, 4)) found[key] = field(key).value;
  return found;
};

// The text of a row is read when it is first asked for.
const words = (row) => (row.text ||= `${row.element.textContent} ${one("h3", row.study).textContent}`.toLowerCase().replace(/\s+/g, " "));
// The words of a question; a number belongs to the word before it: "theorem 2" is found where just this stands.
const parts = (text) => (text.match(/[^\s\d]\S* \d\S*|\S+/g) ?? []).map((part) => {
  const plain = part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return / \d+$/.test(part) ? new RegExp(`${plain}(?!\\d)`) : new RegExp(plain);
});

const show = (query) => {
  const wanted = parts(query.text.replace(/\s+/g, " "));
  const active = wanted.length > 0 || keys.some((key) => query[key]);
  let count = 0;
  for (const row of rows) {
    const fits = keys.every((key) => !query[key] || row.element.dataset[key] === query[key])
      && wanted.every((part) => part.test(words(row)));
    row.element.hidden = !fits;
    count += fits;
  }
  const folds = all(".fold");
  if (active && !foldsBefore) foldsBefore = folds.map((fold) => fold.open);
  folds.forEach((fold, i) => {
    const any = one("article:not([hidden])", fold) !== null;
    fold.hidden = !any;
    fold.open = active ? any : foldsBefore ? foldsBefore[i] : fold.open;
  });
  if (!active) foldsBefore = null;
  for (const study of all(".study")) study.hidden = active && !one("article:not([hidden])", study);
  one("#studies").hidden = active;
  one("#found").textContent = `${count} row${count === 1 ? "" : "s"}`;
};

const remember = (query) => {
  const said = new URLSearchParams(Object.entries(query).filter(([, value]) => value)).toString();
  try { history.replaceState(null, "", `${said ? `?${said}` : location.pathname}${location.hash}`); } catch { /* from disk, some browsers refuse */ }
};

// Whoever asks from amid the rows sees what is found from its beginning on.
const filter = () => {
  const query = asked(), title = one("#all-title"), amid = title.getBoundingClientRect().bottom < 0;
  show(query);
  remember(query);
  if (amid) title.scrollIntoView({ block: "start", behavior: "instant" });
};

const take = (search) => {
  const said = new URLSearchParams(search);
  field("text").value = said.get("text") ?? "";
  field("rank").checked = said.get("rank") === "primary";
  for (const key of keys.slice(0, 4)) field(key).value = said.get(key) ?? "";
  filter();
};

// Cells of a table whose fields may stand in quotes, quotes within them twice.
const cells = (text) => {
  const table = [[""]];
  let quoted = false;
  for (let i = 0; i < text.length; i++) {
    const line = table.at(-1), sign = text[i];
    if (quoted ? sign === '"' && text[i + 1] === '"' : false) line[line.length - 1] += text[++i];
    else if (sign === '"') quoted = !quoted;
    else if (!quoted && sign === ",") line.push("");
    else if (!quoted && sign === "\n") table.push([""]);
    else if (sign !== "\r" || quoted) line[line.length - 1] += sign;
  }
  return table.filter((line) => line.length > 1);
};

const compare = (text, name) => {
  const [head = [], ...lines] = cells(text);
  const [claim, verdict, preset] = ["claim", "verdict", "preset"].map((column) => head.indexOf(column));
  const place = one("#changes");
  place.replaceChildren();
  const say = (tag, text, within = place) => { const made = document.createElement(tag); made.textContent = text; within.append(made); return made; };
  if (claim < 0 || verdict < 0) { say("p", `${name}: no columns claim and verdict`); return; }
  // Files have older words for results.
  const words = new Map(place.dataset.words.split(";").map((pair) => pair.split("=")));
  const said = (line) => words.get(line[verdict]) ?? line[verdict];
  const others = new Map(lines.map((line) => [line[claim], line]));
  const shared = rows.filter((row) => others.has(row.element.id));
  const changed = shared.filter((row) => said(others.get(row.element.id)) !== row.element.dataset.result);
  say("p", `${changed.length} of ${shared.length} shared rows have another result; ${rows.length - shared.length} are here alone, ${others.size - shared.length} there alone.`);
  if (!changed.length) return;
  const table = say("table", ""), top = say("tr", "", say("thead", "", table)), body = say("tbody", "", table);
  for (const title of ["Claim", `There${preset < 0 ? "" : ` (${lines[0][preset]})`}`, "Here"]) say("th", title, top).scope = "col";
  changed.sort((a, b) => (a.element.dataset.rank > b.element.dataset.rank) - (a.element.dataset.rank < b.element.dataset.rank));
  for (const { element } of changed) {
    const line = say("tr", "", body), link = say("a", element.id, say("td", "", line));
    link.href = `#${element.id}`;
    if (element.dataset.rank === "primary") link.className = "changed";
    say("td", said(others.get(element.id)), line);
    say("td", element.dataset.result, line);
  }
};
one("#other").addEventListener("change", async (event) => {
  const [file] = event.target.files;
  if (file) compare(await file.text(), file.name);
});

form.hidden = one(".compare").hidden = false;
form.addEventListener("input", filter);
form.addEventListener("reset", () => setTimeout(filter));
form.addEventListener("submit", (event) => event.preventDefault());
uncover = () => { form.reset(); filter(); };
document.addEventListener("click", (event) => {
  const cell = event.target.closest(".tally a, .count a");
  if (!cell || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  take(new URL(cell.href).search);
  one("#all").scrollIntoView();
});
if (location.search) take(location.search);
