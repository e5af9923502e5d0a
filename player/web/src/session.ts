/** A game at the page: its plays, the position shown, who plays, what was thought of each position. */
import type { Desk, Thinker } from "./desk";
import type { Game, Outcome, Side, View } from "./messages";

/** Who decides for a colour: somebody at the page, or the player. */
export type Seat = "person" | "player";

export interface Seats {
  w: Seat;
  b: Seat;
  /** The player's strength, 1 to 10. */
  strength: number;
}

export class Session {
  /** White's chances after each play, as far as they are known; index 0: before the first. `null`: there is no opinion. */
  readonly values: (number | null | undefined)[] = [];
  /** What the player's draws depend on; the same game taken back and played on need not go the same way. */
  seed = newSeed();
  private readonly views: (View | undefined)[] = [];
  /** How many plays have been made where the board stands. */
  at: number;

  private constructor(
    private readonly desk: Desk, public game: Game, public readonly seats: Seats, last: View,
    /** Whether the player knows the game, and so can play it and have opinions. */
    readonly known: boolean,
  ) {
    this.at = game.plays.length;
    this.views[this.at] = last;
  }

  /**
   * Begins with a game as far as it has come; fails if the rules do not allow it. A game that the player does not know is
   * one for two people.
   */
  static async of(desk: Desk, thinker: Thinker | undefined, game: Game, seats: Seats): Promise<Session> {
    const view = await desk.ask("position", game);
    const known = thinker !== undefined && (await thinker.knows(game.rules)).knows;
    return new Session(desk, view.game, known ? seats : { ...seats, w: "person", b: "person" }, view, known);
  }

  get length(): number {
    return this.game.plays.length;
  }

  get isAtEnd(): boolean {
    return this.at === this.length;
  }

  /** The position shown. */
  get view(): View {
    return this.viewAt(this.at);
  }

  /** The position after the last play. */
  get last(): View {
    return this.viewAt(this.length);
  }

  private viewAt(ply: number): View {
    const view = this.views[ply];
    if (view === undefined) throw new Error(`the position after ${ply} plays has not been asked for`);
    return view;
  }

  /** The game up to so many plays. */
  part(ply: number): Game {
    return { ...this.game, plays: this.game.plays.slice(0, ply) };
  }

  /** Shows the position after so many plays. */
  async go(ply: number): Promise<void> {
    const target = Math.max(0, Math.min(this.length, ply));
    await this.fetch(target);
    this.at = target;
  }

  /** Makes a play after the last one, and shows it. */
  async play(play: string): Promise<void> {
    const view = await this.desk.ask("apply", { game: this.game, play });
    this.game = view.game;
    this.views[this.length] = view;
    this.at = this.length;
  }

  /** Forgets the plays after so many. */
  async cut(ply: number): Promise<void> {
    await this.fetch(ply);
    this.game = this.part(ply);
    this.views.length = ply + 1;
    this.values.length = Math.min(this.values.length, ply + 1);
    this.seed = newSeed();
    this.at = ply;
  }

  private async fetch(ply: number): Promise<View> {
    const view = this.views[ply] ?? await this.desk.ask("position", this.part(ply));
    this.views[ply] = view;
    return view;
  }

  /** Whether somebody at the page decides for this colour. */
  isPerson(side: Side | undefined): boolean {
    return side !== undefined && this.seats[side] === "person";
  }

  /** White's chances by the result, where the game is over after so many plays. */
  result(ply: number): number | null {
    const { end } = this.last;
    if (ply !== this.length || end === undefined) return null;
    return end.winner === undefined ? 0.5 : end.winner === "w" ? 1 : 0;
  }

  /** How many plays stay when the last choice of somebody at the page is taken back; none if there is no such choice. */
  async undone(): Promise<number | undefined> {
    for (let ply = this.length - 1; ply >= 0; ply -= 1) {
      const { decider, options } = await this.fetch(ply);
      // A play without an alternative was no choice; it would be made again at once.
      if (this.isPerson(decider) && options.plays.length > 1) return ply;
    }
    return undefined;
  }
}

const newSeed = (): number => Math.floor(Math.random() * 2 ** 32);

/** An outcome of a side game, by its probability. */
export function drawn(outcomes: Outcome[]): string {
  let left = Math.random();
  for (const { play, probability = 0 } of outcomes) {
    left -= probability;
    if (left < 0) return play;
  }
  return outcomes.at(-1)?.play ?? "";
}
