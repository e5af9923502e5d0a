/** What the page asks and is answered: the types of `player/src/desk` (rules) and `player/src/desk/thinking.rs` (search). */

/** White or Black. */
export type Side = "w" | "b";

export const SIDES: readonly Side[] = ["w", "b"];

/** A game: rules string, first position where it is not the rules' own, plays. */
export interface Game {
  rules: string;
  start?: string;
  plays: string[];
}

export type Phase = "regular" | "owed" | "earned" | "removal" | "challenge" | "side_game" | "over";

/** A way to enter: the dot, then the spots that change, from the first of the line to the first empty one. */
export interface Way {
  dot: string;
  path: string[];
}

/** A potential's move. */
export interface Move {
  play: string;
  from: string;
  to: string;
}

/** A row that may be dealt with now. */
export interface Row {
  segment: string[];
  must: string[];
  optional: string[];
}

/** The outcome of a side game; no probability where it is played elsewhere. */
export interface Outcome {
  play: string;
  probability?: number;
}

/** What may be played, grouped. Any of the kinds may enter by any of the ways. */
export interface Options {
  plays: string[];
  kinds: string[];
  ways: Way[];
  moves: Move[];
  rows: Row[];
  announced?: string;
  outcomes: Outcome[];
}

/** What a colour has; potentials in the order T Z D Y P. */
export interface Holdings {
  hand: number;
  potentials: number[];
  gipfs: number;
  captured: number;
  stage: "G" | "L" | "B";
  must_begin: boolean;
  challenges?: number;
}

/** What the last play did. */
export interface Last {
  play: string;
  by?: Side;
  from?: string;
  path: string[];
  taken: Record<string, string>;
  rows: [string, string][];
}

export interface TurnPlay {
  play: string;
  official: string;
  ply: number;
}

/** A player's move in the list. */
export interface Turn {
  number: number;
  by: Side;
  plays: TurnPlay[];
}

export interface RulesView {
  variant: "basic" | "standard" | "tournament";
  basic: [number, number];
  mixes: [number[], number[]];
  challenge: boolean;
  searchable: boolean;
}

export interface End {
  winner?: Side;
  reason: "gipf" | "play" | "limit";
}

/** The position after a game's last play. Stacks: letters from bottom to top, upper case White's. */
export interface View {
  game: Game;
  position: string;
  phase: Phase;
  mover: Side;
  decider?: Side;
  end?: End;
  situation: string;
  stacks: Record<string, string>;
  sides: [Holdings, Holdings];
  last?: Last;
  options: Options;
  turns: Turn[];
  rules: RulesView;
}

/** The questions that need the rules alone, with their bodies and answers. */
export interface Questions {
  position: [Game, View];
  apply: [{ game: Game; play: string }, View];
  read: [{ text: string }, Game];
  write: [Game, { text: string }];
}
