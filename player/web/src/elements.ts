/** Elements of the page. */

/** The element of the page with this id. */
export function byId<T extends Element = HTMLElement>(id: string): T {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the page has no #${id}`);
  return element as unknown as T;
}

type Properties<K extends keyof HTMLElementTagNameMap> = Partial<Omit<HTMLElementTagNameMap[K], "style">> & { class?: string };

/** A new element with properties and children. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K, properties: Properties<K> = {}, ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  const { class: name, ...rest } = properties;
  if (name !== undefined) element.className = name;
  Object.assign(element, rest);
  element.append(...children);
  return element;
}

/** A button that does something. */
export function button(text: string, press: () => void, properties: Properties<"button"> = {}): HTMLButtonElement {
  const made = make("button", { type: "button", ...properties }, text);
  made.addEventListener("click", press);
  return made;
}

/** A field with its label. */
export function field(label: string, input: HTMLElement): HTMLLabelElement {
  return make("label", { class: "field" }, make("span", {}, label), input);
}

/** A choice among named values. */
export function select(values: [string, string][], value: string): HTMLSelectElement {
  const made = make("select");
  for (const [key, text] of values) made.append(make("option", { value: key, selected: key === value }, text));
  return made;
}

/** A whole number between two bounds. */
export function number(value: number, min: number, max: number): HTMLInputElement {
  return make("input", { type: "number", min: String(min), max: String(max), value: String(value), inputMode: "numeric" });
}
