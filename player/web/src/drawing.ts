/** SVG: elements, pieces, stacks. */
import { type Place } from "./geometry";

const SPACE = "http://www.w3.org/2000/svg";
/** The radius of a basic piece. */
export const PIECE = 20;
/** The radius of a potential. */
const POTENTIAL = 13;

type Attributes = Record<string, string | number>;

/** A new SVG element in `parent`. */
export function draw<K extends keyof SVGElementTagNameMap>(
  parent: Element, tag: K, attributes: Attributes = {}, text?: string,
): SVGElementTagNameMap[K] {
  const made = document.createElementNS(SPACE, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  if (text !== undefined) made.textContent = text;
  parent.append(made);
  return made;
}

/** One stack around a place: letters from bottom to top, each item a little above the one below. */
export function drawStack(parent: Element, { x, y }: Place, stack: string, attributes: Attributes = {}): SVGGElement {
  const group = draw(parent, "g", { class: "stack", "data-stack": stack, ...attributes });
  // High stacks are drawn closer together.
  const lift = Math.min(6, 18 / stack.length);
  [...stack].forEach((letter, level) => {
    const kind = letter.toUpperCase();
    const item = draw(group, "g", { class: `item ${letter === kind ? "w" : "b"}`, "data-kind": kind });
    const cy = y - level * lift;
    const potential = kind !== "S" && kind !== "G";
    draw(item, "circle", { cx: x, cy, r: potential ? POTENTIAL : PIECE });
    if (!potential) draw(item, "circle", { cx: x, cy, r: PIECE - 4, class: "rim" });
    if (kind === "G") draw(item, "circle", { cx: x, cy, r: 10, class: "ring" });
    if (potential) {
      draw(item, "circle", { cx: x, cy, r: POTENTIAL - 2.5, class: `rim kind-${kind}` });
      draw(item, "text", { x, y: cy, "aria-hidden": "true" }, kind);
    }
  });
  if (stack.length > 2) draw(group, "text", { x: x + PIECE + 3, y: y + PIECE - 4, class: "count", "aria-hidden": "true" }, String(stack.length));
  return group;
}

/** A small picture of a stack, for buttons and explanations. */
export function icon(stack: string, size = 28): SVGSVGElement {
  const svg = document.createElementNS(SPACE, "svg");
  svg.setAttribute("viewBox", "0 0 48 48");
  svg.setAttribute("width", String(size));
  svg.setAttribute("height", String(size));
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  drawStack(svg, { x: 24, y: 24 + 2.5 * (stack.length - 1) }, stack);
  return svg;
}
