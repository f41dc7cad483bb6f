// Controls for the settings of a scenario, as its schema has them: with their help, and with errors where they belong.

export class Settings {
  constructor(form, set) {
    this.form = form;
    this.set = set;
    this.fields = new Map();
    form.addEventListener("submit", (event) => event.preventDefault());
  }

  build(controls) {
    this.form.replaceChildren();
    this.fields.clear();
    let section = null;
    for (const control of controls) {
      const [name, rest] = control.key.includes(".") ? control.key.split(".") : ["run", control.key];
      if (name !== section) this.form.append(element("h3", { textContent: name }));
      section = name;
      this.form.append(this.row(control, rest));
    }
  }

  row(control, name) {
    const id = `set-${control.key}`;
    const input = made(control);
    input.id = id;
    input.setAttribute("aria-describedby", `${id}-help`);
    input.addEventListener("change", () => this.change(control, input));
    const problem = element("p", { className: "problem", hidden: true });
    problem.setAttribute("role", "alert");
    this.fields.set(control.key, { control, input, problem });
    const row = element("div", { className: "setting" });
    row.append(element("label", { htmlFor: id, textContent: name.replaceAll("_", " ") }), input);
    if (control.choices && control.kind === "text" && control.choices.length) {
      const list = element("datalist", { id: `${id}-list` });
      list.append(...control.choices.map((choice) => element("option", { value: choice })));
      input.setAttribute("list", list.id);
      row.append(list);
    }
    row.append(element("p", { className: "help", id: `${id}-help`, textContent: control.help }), problem);
    return row;
  }

  change(control, input) {
    this.clear(control.key);
    this.set(control.key, read(control, input));
  }

  // The values that a scenario has.
  show(values) {
    for (const [key, { control, input, problem }] of this.fields) {
      if (document.activeElement === input && !problem.hidden) continue; // it is being put right
      const value = values[key] ?? null;
      if (control.kind === "flag") input.checked = Boolean(value);
      else input.value = value === null ? "" : typeof value === "object" ? JSON.stringify(value) : value;
    }
  }

  // Returns whether there is a control that the error belongs to.
  complain(key, text) {
    const field = this.fields.get(key);
    if (!field) return false;
    field.problem.textContent = text;
    field.problem.hidden = false;
    field.input.setAttribute("aria-invalid", "true");
    return true;
  }

  clear(key) {
    const { problem, input } = this.fields.get(key);
    problem.hidden = true;
    input.removeAttribute("aria-invalid");
  }
}

function element(name, facts) {
  return Object.assign(document.createElement(name), facts);
}

function made({ kind, choices, least, most, default: usual }) {
  if (kind === "choice") {
    const select = element("select", {});
    select.append(...choices.map((choice) => element("option", { value: choice, textContent: choice })));
    return select;
  }
  if (kind === "flag") return element("input", { type: "checkbox" });
  const input = element("input", { type: kind === "text" ? "text" : "number" });
  if (kind !== "text") {
    input.step = kind === "integer" ? "1" : "any";
    if (least !== null) input.min = least;
    if (most !== null) input.max = most;
  }
  input.placeholder = usual === null || usual === undefined ? "as it comes" : typeof usual === "object" ? JSON.stringify(usual) : usual;
  return input;
}

// What the reader gave, as JSON has it; nothing: the default.
function read({ kind }, input) {
  if (kind === "flag") return input.checked;
  if (input.value === "") return null;
  if (kind === "choice") return input.value;
  if (kind !== "text") return Number(input.value);
  try {
    return JSON.parse(input.value);
  } catch {
    return input.value; // a word
  }
}
