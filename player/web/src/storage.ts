/** The game is still there when the page is opened again; a browser that keeps nothing for the page is no fault. */
import type { Game } from "./messages";
import type { Seats } from "./session";

const KEY = "gipf-game-1";

export interface Kept {
  game: Game;
  seats: Seats;
  opinion: boolean;
}

export function keep(kept: Kept): void {
  try {
    localStorage.setItem(KEY, JSON.stringify(kept));
  } catch {
    // Private windows and pages from disk may not store anything.
  }
}

/** What was kept, as far as it has the form; its game is checked by whoever replays it. */
export function kept(): Kept | undefined {
  try {
    const value = JSON.parse(localStorage.getItem(KEY) ?? "null") as Partial<Kept> | null;
    const { game, seats, opinion } = value ?? {};
    if (game === undefined || seats === undefined || typeof game.rules !== "string" || !Array.isArray(game.plays)) return undefined;
    const isSeat = (seat: unknown): boolean => seat === "person" || seat === "player";
    if (!isSeat(seats.w) || !isSeat(seats.b) || !(seats.strength >= 1 && seats.strength <= 10)) return undefined;
    return { game, seats, opinion: opinion !== false };
  } catch {
    return undefined;
  }
}
