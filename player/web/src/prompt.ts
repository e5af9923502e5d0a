/** What is to be done, in words, and what can be done beside pressing points of the board. */
import type { Choice } from "./choice";
import { SIDES, type Side } from "./messages";
import type { Session } from "./session";
import { texts } from "./texts";

/** A button under the prompt: it makes a play, or does what its name says. */
export interface Offer {
  text: string;
  does: { play: string } | "new" | "cut" | "hurry";
  primary?: boolean;
  disabled?: boolean;
  id?: string;
}

export interface Prompt {
  text: string;
  offers: Offer[];
}

export interface Moment {
  session: Session;
  /** What somebody at the page chooses, where the word is theirs. */
  choice: Choice | undefined;
  thinking: boolean;
  /** Whether the thinking can be ended early. */
  canHurry: boolean;
}

export function prompt({ session, choice, thinking, canHurry }: Moment): Prompt {
  const { view, at, length, isAtEnd } = session;
  const { phase, mover, decider, options } = view;
  if (view.end !== undefined) return { text: texts.end(view.end), offers: [{ text: texts.newGame, does: "new", primary: true }] };
  if (!isAtEnd) return { text: texts.status.looking(at, length), offers: [{ text: texts.goOnHere, does: "cut" }] };
  if (thinking && decider !== undefined) {
    return { text: texts.status.thinking(decider), offers: canHurry ? [{ text: texts.playNow, does: "hurry" }] : [] };
  }
  if (phase === "side_game") {
    if (options.outcomes.every(({ probability }) => probability !== undefined)) {
      return { text: texts.status.sideGame(mover, view.last?.play ?? ""), offers: [] };
    }
    const offers = options.outcomes.map(({ play }): Offer => ({ text: texts.outcomes[play] ?? play, does: { play } }));
    return { text: texts.status.outcome(mover), offers };
  }
  if (choice === undefined || decider === undefined) return { text: "", offers: [] };
  switch (phase) {
    case "removal":
      return removal(choice, decider);
    case "challenge":
      return {
        text: texts.status.challenge(mover, options.announced ?? ""),
        offers: [{ text: texts.letPass, does: { play: "." }, primary: true }, { text: texts.challengeIt, does: { play: "?" } }],
      };
    case "owed":
    case "earned":
      return { text: begun(choice) ?? texts.status.extra(mover), offers: [{ text: texts.skipExtra, does: { play: "+-" }, id: "skip" }] };
    default:
      return { text: begun(choice) ?? regular(choice), offers: [] };
  }
}

function removal(choice: Choice, decider: Side): Prompt {
  const { plays, rows } = choice.view.options;
  const gipfOnly = plays.includes("x-");
  const offers: Offer[] = [];
  let text = gipfOnly ? texts.status.gipfRow(decider)
    : rows.some(({ optional }) => optional.length > 0) ? texts.status.removal(decider) : texts.status.removalForced(decider);
  if (rows.length > 1) text += texts.status.removalRows;
  if (choice.removal !== "x") {
    if (!choice.isLegal) text = texts.status.notAllowed;
    offers.push({ text: texts.remove, does: { play: choice.removal }, primary: true, disabled: !choice.isLegal, id: "remove" });
  }
  if (gipfOnly) offers.push({ text: texts.leave, does: { play: "x-" } });
  return { text, offers };
}

function regular({ view }: Choice): string {
  const { mover, sides, options } = view;
  if (options.kinds.length === 0) return texts.status.moveOnly(mover);
  const first = sides[SIDES.indexOf(mover)]?.must_begin === true;
  const enter = first ? texts.status.first : options.kinds.length > 1 ? texts.status.enter : texts.status.enterOnly;
  return enter(mover) + (options.moves.length > 0 ? texts.status.moveToo : "");
}

/** What the point chosen so far still wants; nothing where none is chosen. */
function begun(choice: Choice): string | undefined {
  const { begun: point, lines, view } = choice;
  if (point === undefined) return undefined;
  if (lines > 1) return texts.status.line(point);
  if (lines === 1 || view.options.moves.every(({ from }) => from !== point)) return texts.status.confirm(point);
  return texts.status.target(point);
}
