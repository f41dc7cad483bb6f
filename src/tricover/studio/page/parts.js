// Parts of the page by their names.

// Of a kind where that matters; within the part the first that a selector names.
/**
 * @template {Element} Kind
 * @param {string} name
 * @param {new () => Kind} kind
 * @returns {Kind}
 */
export function found(name, kind, selector = "") {
  const element = document.querySelector(`#${name} ${selector}`);
  if (element instanceof kind) return element;
  throw new Error(`the page has no ${name} ${selector}`);
}

export const part = (/** @type {string} */ name, selector = "") => found(name, HTMLElement, selector);
export const field = (/** @type {string} */ name) => found(name, HTMLInputElement);
export const button = (/** @type {string} */ name) => found(name, HTMLButtonElement);
export const choice = (/** @type {string} */ name) => found(name, HTMLSelectElement);
/** @param {string} name @param {string} selector @returns {NodeListOf<HTMLElement>} */
export const all = (name, selector) => part(name).querySelectorAll(selector);
