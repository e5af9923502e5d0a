/** The list of moves in official notation, and who stood better after each. */
import { draw } from "./drawing";
import { button, make } from "./elements";
import type { View } from "./messages";
import { playWords, texts } from "./texts";

/** Fills the list of moves; the play that led to the position shown is marked. */
export function showMoves(list: HTMLElement, last: View, at: number, go: (ply: number) => void): void {
  const rows = new Map<number, HTMLElement>();
  let current: HTMLElement | undefined;
  for (const { number, by, plays } of last.turns) {
    const row = rows.get(number) ?? make("li", {}, make("span", { class: "number" }, `${number}.`));
    rows.set(number, row);
    if (by === "b" && row.childElementCount === 1) row.append(make("span", { class: "move" }, "…"));
    const move = make("span", { class: "move" });
    for (const { official, play, ply } of plays) {
      const made = button(official === "" ? "x-" : official, () => go(ply), { title: play });
      made.setAttribute("aria-label", `${texts.side(by)} ${playWords(official)}`);
      if (ply === at) {
        made.setAttribute("aria-current", "true");
        current = made;
      }
      move.append(made);
    }
    row.append(move);
  }
  list.replaceChildren(...rows.values());
  // Only the list scrolls, never the page under somebody's finger.
  if (current !== undefined) {
    const [box, inner] = [list.getBoundingClientRect(), current.getBoundingClientRect()];
    if (inner.top < box.top) list.scrollTop -= box.top - inner.top;
    else if (inner.bottom > box.bottom) list.scrollTop += inner.bottom - box.bottom;
  } else {
    list.scrollTop = 0;
  }
}

/** The bar of White's chances; without a value it says nothing. */
export function showBar(bar: HTMLElement, white: number | null | undefined): void {
  const known = typeof white === "number";
  bar.classList.toggle("unknown", !known);
  bar.style.setProperty("--white", String(white ?? 0.5));
  bar.setAttribute("aria-label", !known ? texts.opinion : `${texts.opinion}: ${texts.chances(white)}`);
  const [left, right] = bar.querySelectorAll("span");
  if (left !== undefined) left.textContent = !known ? "" : `${Math.round(100 * white)}%`;
  if (right !== undefined) right.textContent = !known ? "" : `${100 - Math.round(100 * white)}%`;
}

const [GRAPH_WIDTH, GRAPH_HEIGHT, EDGE] = [300, 64, 4];

/** The chances over the game; a press goes to the play under it. */
export function showGraph(svg: SVGSVGElement, values: (number | null | undefined)[], length: number, at: number, go: (ply: number) => void): void {
  svg.setAttribute("viewBox", `0 0 ${GRAPH_WIDTH} ${GRAPH_HEIGHT}`);
  svg.setAttribute("aria-label", texts.graph(values.filter((value) => typeof value === "number").length));
  svg.replaceChildren();
  const last = Math.max(length, 10);
  const x = (ply: number): number => EDGE + (ply / last) * (GRAPH_WIDTH - 2 * EDGE);
  const y = (white: number): number => EDGE + (1 - white) * (GRAPH_HEIGHT - 2 * EDGE);
  draw(svg, "line", { x1: EDGE, x2: GRAPH_WIDTH - EDGE, y1: y(0.5), y2: y(0.5), class: "even" });
  draw(svg, "line", { x1: x(at), x2: x(at), y1: EDGE, y2: GRAPH_HEIGHT - EDGE, class: "here" });
  const points = values.flatMap((value, ply) => (typeof value !== "number" || ply > length ? [] : [`${x(ply).toFixed(1)},${y(value).toFixed(1)}`]));
  if (points.length > 1) draw(svg, "polyline", { points: points.join(" "), class: "curve" });
  const here = values[at];
  if (typeof here === "number") draw(svg, "circle", { cx: x(at), cy: y(here), r: 3.5, class: "now" });
  svg.onclick = (event) => {
    const box = svg.getBoundingClientRect();
    const share = ((event.clientX - box.left) / box.width) * GRAPH_WIDTH;
    go(Math.max(0, Math.min(length, Math.round(((share - EDGE) / (GRAPH_WIDTH - 2 * EDGE)) * last))));
  };
}
