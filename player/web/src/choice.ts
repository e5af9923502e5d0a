/** What somebody has chosen so far of a play: presses go in, marks come out, and at last a play. */
import { type Marks, type Means, noMarks } from "./board";
import { isDot } from "./geometry";
import type { Side, View, Way } from "./messages";
import { texts } from "./texts";

/** A kind of piece as the stack it makes on the board. */
export function kindStack(kind: string, side: Side): string {
  const letters = kind === "S" || kind === "G" ? kind : `S${kind}`;
  return side === "w" ? letters : letters.toLowerCase();
}

export class Choice {
  /** The kind of piece to enter. */
  kind: string | undefined;
  private point: string | undefined;
  private row = 0;
  private readonly take = new Set<string>();

  /** A choice among the plays of a position; `kind` is what was entered last, if that is still allowed. */
  constructor(readonly view: View, kind: string | undefined) {
    const { kinds, rows } = view.options;
    this.kind = kind !== undefined && kinds.includes(kind) ? kind : kinds[0];
    this.selectRow(0);
    // Where several rows wait, one of which has a choice, that one is no better a start than the others.
    if (rows.length === 0) this.row = -1;
  }

  /** What has been begun is taken back; whether there was anything. */
  clear(): boolean {
    const begun = this.point !== undefined;
    this.point = undefined;
    return begun;
  }

  private get extra(): boolean {
    return this.view.phase === "owed" || this.view.phase === "earned";
  }

  private get enters(): boolean {
    return this.extra || this.kind !== undefined;
  }

  private waysFrom(dot: string): Way[] {
    return this.enters ? this.view.options.ways.filter((way) => way.dot === dot) : [];
  }

  /** Ways onto an empty rim spot, which all come to the same. */
  private wayOnto(spot: string): Way | undefined {
    return this.enters ? this.view.options.ways.find((way) => way.path.length === 1 && way.path[0] === spot) : undefined;
  }

  private movesFrom(spot: string): string[] {
    return this.view.options.moves.filter(({ from }) => from === spot).map(({ to }) => to);
  }

  private entry(way: Way): string {
    const prefix = this.extra ? "+" : this.kind === "S" ? "" : this.kind ?? "";
    return `${prefix}${way.dot}-${way.path[0]}`;
  }

  /** A point was pressed: the play that this makes, if it does. */
  press(point: string, means: Means): string | undefined {
    if (this.view.phase === "removal") {
      this.pressRow(point);
      return undefined;
    }
    const chosen = this.point;
    this.point = undefined;
    if (chosen !== undefined) {
      const play = this.finish(chosen, point);
      if (play !== undefined) return play;
      if (chosen === point) return undefined;
    }
    if (this.movesFrom(point).length > 0) {
      this.point = point;
      return undefined;
    }
    const onto = isDot(point) ? undefined : this.wayOnto(point);
    const ways = onto !== undefined ? [onto] : this.waysFrom(point);
    const only = ways.length === 1 ? ways[0] : undefined;
    // A finger shows first what it would do.
    if (only !== undefined && means !== "touch") return this.entry(only);
    if (ways.length > 0) this.point = point;
    return undefined;
  }

  private finish(chosen: string, point: string): string | undefined {
    const move = this.view.options.moves.find(({ from, to }) => from === chosen && to === point);
    if (move !== undefined) return move.play;
    const onto = isDot(chosen) ? undefined : this.wayOnto(chosen);
    if (onto !== undefined) return point === chosen ? this.entry(onto) : undefined;
    const ways = this.waysFrom(chosen);
    const way = ways.find(({ path }) => path[0] === point) ?? (ways.length === 1 && point === chosen ? ways[0] : undefined);
    return way && this.entry(way);
  }

  // Removals

  private pressRow(point: string): void {
    const { rows } = this.view.options;
    const row = rows[this.row];
    if (row?.optional.includes(point)) {
      if (!this.take.delete(point)) this.take.add(point);
      return;
    }
    const other = rows.findIndex(({ segment }, index) => index !== this.row && segment.includes(point));
    if (other >= 0) this.selectRow(other);
  }

  /** A row as it is dealt with most sparingly: what must go goes, and what may stay stays where the rules allow that. */
  private selectRow(index: number): void {
    const row = this.view.options.rows[index];
    if (row === undefined) return;
    this.row = index;
    this.take.clear();
    for (const spot of row.must) this.take.add(spot);
    if (!this.isLegal && row.must.length > 0) for (const spot of row.optional) this.take.add(spot);
    if (!this.isLegal && !this.view.options.plays.includes("x-")) for (const spot of row.optional) this.take.add(spot);
  }

  /** The removal as chosen. */
  get removal(): string {
    return `x${[...this.take].sort().join(",")}`;
  }

  /** Whether it may be made. */
  get isLegal(): boolean {
    return this.view.options.plays.includes(this.removal);
  }

  /** Whether there is anything to choose. */
  get hasChoice(): boolean {
    return this.view.options.plays.length > 1;
  }

  // What it looks like

  /** What is marked, the mouse being over `hover`. */
  marks(hover: string | undefined): Marks {
    const marks = noMarks();
    const { rows, moves, ways } = this.view.options;
    if (this.view.phase === "removal") {
      const row = rows[this.row];
      rows.forEach(({ segment }) => marks.rows.push([segment[0] ?? "", segment.at(-1) ?? ""]));
      for (const { segment } of rows) for (const spot of segment) marks.targets.set(spot, texts.status.removalRows.trim());
      for (const spot of row?.segment ?? []) marks.targets.delete(spot);
      for (const spot of row?.optional ?? []) marks.targets.set(spot, this.take.has(spot) ? texts.taking : texts.keeping);
      marks.optional = row?.optional ?? [];
      marks.taken = [...this.take];
      return marks;
    }
    if (this.enters) {
      for (const { dot, path } of ways) {
        marks.targets.set(dot, texts.canEnter);
        if (path.length === 1 && path[0] !== undefined) {
          marks.targets.set(path[0], texts.canEnterOn);
          marks.quiet.add(path[0]);
        }
      }
    }
    for (const { from } of moves) marks.targets.set(from, texts.canMove);
    if (this.point === undefined) {
      // The loaded pieces that can move are shown without being looked for.
      marks.optional = [...new Set(moves.map(({ from }) => from))];
    } else {
      marks.chosen.push(this.point);
      for (const to of this.movesFrom(this.point)) this.next(marks, to, texts.canGo);
      for (const { path } of this.waysFrom(this.point)) this.next(marks, path[0] ?? "", texts.canEnterOn);
    }
    this.preview(marks, this.point, hover);
    return marks;
  }

  /** A point that ends what has been begun. */
  private next(marks: Marks, point: string, what: string): void {
    marks.targets.set(point, what);
    marks.quiet.delete(point);
  }

  /** What the chosen point, or the one under the mouse, would do. */
  private preview(marks: Marks, chosen: string | undefined, hover: string | undefined): void {
    const about = chosen ?? hover;
    if (about === undefined) return;
    const side = this.view.mover;
    for (const to of this.movesFrom(about)) marks.arrows.push({ from: about, to, kind: "way" });
    const onto = isDot(about) ? undefined : this.wayOnto(about);
    let shown = onto !== undefined && this.movesFrom(about).length === 0 ? [onto] : this.waysFrom(about);
    const towards = hover === undefined ? [] : shown.filter(({ path }) => path[0] === hover);
    if (towards.length > 0) shown = towards;
    const stack = this.extra ? (side === "w" ? "T" : "t") : kindStack(this.kind ?? "S", side);
    for (const { dot, path } of shown) {
      const [first = "", end = ""] = [path[0], path.at(-1)];
      if (onto === undefined) marks.arrows.push({ from: dot, to: first, kind: "way" });
      if (path.length === 1) marks.ghosts.push({ at: first, stack });
      else marks.arrows.push({ from: first, to: end, kind: "way", weight: 0.6 });
    }
  }

  /** The dot or spot that was chosen so far. */
  get begun(): string | undefined {
    return this.point;
  }

  /** How many lines the chosen dot has. */
  get lines(): number {
    return this.point === undefined ? 0 : this.waysFrom(this.point).length;
  }
}
