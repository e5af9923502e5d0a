/** The board: 61 points that can be pressed, pieces, marks. It shows what it is told and knows nothing of the rules. */
import { draw, drawStack, PIECE } from "./drawing";
import { CENTRE, HEIGHT, isDot, lines, neighbour, type Place, place, POINTS, WIDTH } from "./geometry";
import type { Last } from "./messages";
import { stackWords, texts } from "./texts";

/** How somebody pressed a point: what touches cannot hover first. */
export type Means = "mouse" | "touch" | "keys";

/** An arrow from point to point. */
export interface Arrow {
  from: string;
  to: string;
  kind: "way" | "hint";
  /** 0 to 1, how strongly it is drawn. */
  weight?: number;
}

/** What is marked on the board. */
export interface Marks {
  /** Points that may be pressed, with what that does, for screen readers. */
  targets: Map<string, string>;
  /** Those of them that are only a short cut, and not shown unless the mouse is there. */
  quiet: Set<string>;
  /** Points chosen so far. */
  chosen: string[];
  arrows: Arrow[];
  /** Stacks that would stand there, drawn faintly. */
  ghosts: { at: string; stack: string }[];
  /** Tops that will be taken. */
  taken: string[];
  /** Pieces that may be kept or taken. */
  optional: string[];
  /** Ends of rows. */
  rows: [string, string][];
  /** Spots that a hint takes. */
  hinted: string[];
}

export const noMarks = (): Marks =>
  ({ targets: new Map(), quiet: new Set(), chosen: [], arrows: [], ghosts: [], taken: [], optional: [], rows: [], hinted: [] });

export interface Handlers {
  press(point: string, means: Means): void;
  hover(point: string | undefined): void;
  escape(): void;
}

const ARROWS: Record<string, [number, number]> = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };

export class Board {
  private turned = false;
  private current = "e1";
  private stacks: Record<string, string> = {};
  private layers: { below: SVGGElement; pieces: SVGGElement; above: SVGGElement } | undefined;
  private readonly points = new Map<string, SVGGElement>();

  constructor(private readonly svg: SVGSVGElement, private readonly handlers: Handlers) {
    svg.setAttribute("viewBox", `0 0 ${WIDTH.toFixed(1)} ${HEIGHT}`);
    svg.setAttribute("aria-label", texts.board);
    svg.addEventListener("keydown", (event) => this.key(event));
    svg.addEventListener("pointerleave", () => handlers.hover(undefined));
    this.drawAll();
  }

  /** White's side below, or Black's. */
  turn(turned: boolean): void {
    if (turned === this.turned) return;
    this.turned = turned;
    this.drawAll();
  }

  get isTurned(): boolean {
    return this.turned;
  }

  focus(): void {
    this.points.get(this.current)?.focus();
  }

  /** Draws pieces; `last` is marked and, where `moving`, seen to move. */
  show(stacks: Record<string, string>, last: Last | undefined, moving: boolean): void {
    this.stacks = stacks;
    const { pieces } = this.surface();
    pieces.replaceChildren();
    for (const [spot, stack] of Object.entries(stacks)) drawStack(pieces, this.at(spot), stack, { "data-at": spot });
    for (const [spot, stack] of Object.entries(last?.taken ?? {})) {
      if (!(spot in stacks)) drawStack(pieces, this.at(spot), stack, { class: "stack gone", "data-gone": spot });
    }
    if (moving && last !== undefined) this.animate(last);
  }

  /** Draws the marks, the last play's among them. */
  mark(marks: Marks, last: Last | undefined): void {
    const { below, above } = this.surface();
    below.replaceChildren();
    above.replaceChildren();
    for (const ends of [...marks.rows, ...(last?.rows ?? [])]) this.line(below, ...ends, { class: "row" });
    for (const spot of last?.path ?? []) this.ring(below, spot, PIECE + 3.5, { class: "changed", "data-changed": spot });
    if (last?.from !== undefined && isDot(last.from)) this.ring(below, last.from, 9, { class: "changed" });
    for (const spot of Object.keys(last?.taken ?? {})) this.cross(above, spot, { class: "went" });
    for (const { at, stack } of marks.ghosts) drawStack(above, this.at(at), stack, { class: "stack ghost", "data-ghost": at });
    for (const point of marks.chosen) this.ring(above, point, isDot(point) ? 12 : PIECE + 3.5, { class: "chosen" });
    for (const spot of marks.optional) this.ring(above, spot, PIECE + 3.5, { class: "optional", "data-optional": spot });
    for (const spot of marks.taken) this.cross(above, spot, { class: "taken", "data-taken": spot });
    for (const spot of marks.hinted) this.ring(above, spot, PIECE + 6, { class: "hint-ring" });
    for (const { from, to, kind, weight } of marks.arrows) {
      this.line(above, from, to, { class: `arrow ${kind}`, opacity: weight ?? 1, "data-arrow": `${from}-${to}` });
    }
    for (const [point, group] of this.points) {
      const what = marks.targets.get(point);
      group.classList.toggle("target", what !== undefined);
      group.classList.toggle("quiet", marks.quiet.has(point));
      group.setAttribute("aria-disabled", String(what === undefined));
      const stack = this.stacks[point];
      const name = stack !== undefined ? texts.stack(point, stackWords(stack)) : isDot(point) ? texts.dot(point) : texts.empty(point);
      group.setAttribute("aria-label", what === undefined ? name : `${name}; ${what}`);
    }
  }

  private at(point: string): Place {
    return place(point, this.turned);
  }

  private surface(): { below: SVGGElement; pieces: SVGGElement; above: SVGGElement } {
    if (this.layers === undefined) throw new Error("the board is drawn before anything stands on it");
    return this.layers;
  }

  private drawAll(): void {
    const focused = this.svg.contains(document.activeElement);
    this.svg.replaceChildren();
    this.points.clear();
    const defs = draw(this.svg, "defs");
    for (const kind of ["way", "hint"]) {
      const marker = draw(defs, "marker", {
        id: `arrow-${kind}`, viewBox: "0 0 10 10", refX: 7, refY: 5, markerWidth: 13, markerHeight: 13,
        markerUnits: "userSpaceOnUse", orient: "auto",
      });
      draw(marker, "path", { d: "M0 0 L10 5 L0 10 z", class: `head-${kind}` });
    }
    const ground = draw(this.svg, "g", { "aria-hidden": "true" });
    const out = ["a1", "a5", "e9", "i5", "i1", "e1"].map((corner) => {
      const { x, y } = this.at(corner);
      return `${CENTRE.x + 1.14 * (x - CENTRE.x)},${CENTRE.y + 1.14 * (y - CENTRE.y)}`;
    });
    draw(ground, "polygon", { points: out.join(" "), class: "ground" });
    for (const [from, to] of lines()) this.line(ground, from, to, { class: "line" });
    for (const point of POINTS) {
      const { x, y } = this.at(point);
      if (!isDot(point)) {
        draw(ground, "circle", { cx: x, cy: y, r: 5, class: "spot", "data-spot": point });
        continue;
      }
      draw(ground, "circle", { cx: x, cy: y, r: 5.5, class: "dot", "data-dot": point });
      const far = 1 + 18 / Math.hypot(x - CENTRE.x, y - CENTRE.y);
      draw(ground, "text", { x: CENTRE.x + far * (x - CENTRE.x), y: CENTRE.y + far * (y - CENTRE.y), class: "name" }, point);
    }
    this.layers = {
      below: draw(this.svg, "g", { "aria-hidden": "true" }),
      pieces: draw(this.svg, "g", { "aria-hidden": "true" }),
      above: draw(this.svg, "g", { "aria-hidden": "true" }),
    };
    for (const point of POINTS) this.drawPoint(point);
    if (focused) this.focus();
  }

  private drawPoint(point: string): void {
    const { x, y } = this.at(point);
    const group = draw(this.svg, "g", { class: "point", role: "button", "data-point": point, tabindex: point === this.current ? 0 : -1 });
    draw(group, "circle", { cx: x, cy: y, r: 24, class: "reach" });
    draw(group, "circle", { cx: x, cy: y, r: isDot(point) ? 12 : 21, class: "halo" });
    let means: Means = "mouse";
    group.addEventListener("pointerdown", (event) => { means = event.pointerType === "mouse" ? "mouse" : "touch"; });
    group.addEventListener("click", (event) => {
      // A click without a pointer comes from a screen reader or from Enter.
      const how = event.detail === 0 ? "keys" : means;
      this.go(point, false);
      this.handlers.press(point, how);
    });
    group.addEventListener("pointerenter", (event) => {
      if (event.pointerType === "mouse") this.handlers.hover(point);
    });
    group.addEventListener("focus", () => {
      this.go(point, false);
      if (group.matches(":focus-visible")) this.handlers.hover(point);
    });
    this.points.set(point, group);
  }

  /** Makes a point the one that Tab comes to. */
  private go(point: string, focus: boolean): void {
    this.points.get(this.current)?.setAttribute("tabindex", "-1");
    this.current = point;
    const group = this.points.get(point);
    group?.setAttribute("tabindex", "0");
    if (focus) group?.focus();
  }

  private key(event: KeyboardEvent): void {
    const arrow = ARROWS[event.key];
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (arrow !== undefined) {
      const next = neighbour(this.current, ...arrow, this.turned);
      if (next !== undefined) this.go(next, true);
    } else if (event.key === "Enter" || event.key === " ") {
      this.handlers.press(this.current, "keys");
    } else if (event.key === "Escape") {
      this.handlers.escape();
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  private line(parent: Element, from: string, to: string, attributes: Record<string, string | number>): void {
    const [a, b] = [this.at(from), this.at(to)];
    draw(parent, "line", { x1: a.x, y1: a.y, x2: b.x, y2: b.y, ...attributes });
  }

  private ring(parent: Element, point: string, r: number, attributes: Record<string, string | number>): void {
    const { x, y } = this.at(point);
    draw(parent, "circle", { cx: x, cy: y, r, ...attributes });
  }

  private cross(parent: Element, spot: string, attributes: Record<string, string | number>): void {
    const { x, y } = this.at(spot);
    draw(parent, "path", { d: `M${x - 10} ${y - 10}l20 20m-20 0l20 -20`, ...attributes });
  }

  /** What the last play moved comes from where it was. */
  private animate(last: Last): void {
    if (matchMedia("(prefers-reduced-motion: reduce)").matches || last.from === undefined) return;
    let before = last.from;
    for (const spot of last.path) {
      const stack = this.surface().pieces.querySelector(`[data-at="${spot}"]`);
      const [from, to] = [this.at(before), this.at(spot)];
      stack?.animate(
        [{ transform: `translate(${from.x - to.x}px, ${from.y - to.y}px)` }, { transform: "none" }],
        { duration: 260, easing: "ease-out" },
      );
      before = spot;
    }
  }
}
