// Controls for the settings of a scenario, as its schema has them: with their help, and with errors where they belong.

/** @import { Control } from "./live.js" */
/** @typedef {HTMLInputElement | HTMLSelectElement} Field */

export class Settings {
  /** @param {HTMLFormElement} form @param {(key: string, value: unknown) => void} set */
  constructor(form, set) {
    this.form = form;
    this.set = set;
    /** @type {Map<string, { control: Control, input: Field, problem: HTMLElement }>} */
    this.fields = new Map();
    form.addEventListener("submit", (event) => event.preventDefault());
  }

  /** @param {Control[]} controls */
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

  /** @param {Control} control @param {string} name */
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

  /** @param {Control} control @param {Field} input */
  change(control, input) {
    this.clear(control.key);
    this.set(control.key, read(control, input));
  }

  // The values that a scenario has.
  /** @param {Record<string, unknown>} values */
  show(values) {
    for (const [key, { control, input, problem }] of this.fields) {
      if (document.activeElement === input && !problem.hidden) continue; // it is being put right
      const value = values[key] ?? null;
      if (control.kind === "flag" && input instanceof HTMLInputElement) input.checked = Boolean(value);
      else input.value = value === null ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);
    }
  }

  // Returns whether there is a control that the error belongs to.
  /** @param {string} key @param {string} text */
  complain(key, text) {
    const field = this.fields.get(key);
    if (!field) return false;
    field.problem.textContent = text;
    field.problem.hidden = false;
    field.input.setAttribute("aria-invalid", "true");
    return true;
  }

  /** @param {string} key */
  clear(key) {
    const field = this.fields.get(key);
    if (!field) return;
    field.problem.hidden = true;
    field.input.removeAttribute("aria-invalid");
  }
}

/**
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {object} facts
 * @returns {HTMLElementTagNameMap[Name]}
 */
function element(name, facts) {
  return Object.assign(document.createElement(name), facts);
}

/** @param {Control} control @returns {Field} */
function made({ kind, choices = [], least, most, default: usual }) {
  if (kind === "choice") {
    const select = element("select", {});
    select.append(...choices.map((choice) => element("option", { value: choice, textContent: choice })));
    return select;
  }
  if (kind === "flag") return element("input", { type: "checkbox" });
  const input = element("input", { type: kind === "text" ? "text" : "number" });
  if (kind !== "text") {
    input.step = kind === "integer" ? "1" : "any";
    if (typeof least === "number") input.min = String(least);
    if (typeof most === "number") input.max = String(most);
  }
  input.placeholder = usual === null || usual === undefined ? "as it comes" : typeof usual === "object" ? JSON.stringify(usual) : String(usual);
  return input;
}

// What the reader gave, as JSON has it; nothing: the default.
/** @param {Control} control @param {Field} input */
function read({ kind }, input) {
  if (kind === "flag" && input instanceof HTMLInputElement) return input.checked;
  if (input.value === "") return null;
  if (kind === "choice") return input.value;
  if (kind !== "text") return Number(input.value);
  try {
    return JSON.parse(input.value);
  } catch {
    return input.value; // a word
  }
}
