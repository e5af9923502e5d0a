/** What both colours have: hands, GIPF-pieces, captured pieces, and the choice of what to enter. */
import { kindStack } from "./choice";
import { icon } from "./drawing";
import { button, make } from "./elements";
import { type Holdings, type Side, SIDES, type View } from "./messages";
import { texts } from "./texts";

const KINDS = ["T", "Z", "D", "Y", "P"];

export interface HandsState {
  view: View;
  /** Who plays the colours, as the page names them. */
  names: Record<Side, string>;
  /** The kind chosen to enter, where somebody at the page chooses now. */
  kind: string | undefined;
  choosing: Side | undefined;
}

/** Draws the hand of one colour. */
export function showHand(parent: HTMLElement, side: Side, state: HandsState, choose: (kind: string) => void): void {
  const { view, names } = state;
  const has = view.sides[SIDES.indexOf(side)] as Holdings;
  parent.className = `hand${view.decider === side ? " turn" : ""}`;
  parent.setAttribute("aria-label", texts.hand(side));
  const head = make("div", { class: "who" },
    icon(side === "w" ? "S" : "s", 24), make("strong", {}, texts.side(side)), make("span", { class: "muted" }, names[side]));
  const facts = make("div", { class: "facts" }, make("span", { class: "in-hand" }, texts.inHand(has.hand)));
  facts.append(pips(has.hand, side));
  KINDS.forEach((kind, index) => {
    const count = has.potentials[index] ?? 0;
    if (count === 0) return;
    facts.append(make("span", { class: "potential", title: texts.kind(kind) }, icon(side === "w" ? kind : kind.toLowerCase(), 22), `×${count}`,
      make("span", { class: "unseen" }, texts.kind(kind))));
  });
  if (view.rules.variant !== "basic") facts.append(make("span", { class: "muted" }, texts.onBoard(has.gipfs)));
  if (has.captured > 0) facts.append(make("span", { class: "muted" }, texts.captured(has.captured)));
  if (has.challenges !== undefined) facts.append(make("span", { class: "muted" }, texts.challenges(has.challenges)));
  parent.replaceChildren(head, facts);
  if (state.choosing === side && view.options.kinds.length > 1) parent.append(kinds(side, state, choose));
}

/** The hand's pieces as small discs, which a glance tells apart from a few. */
function pips(count: number, side: Side): HTMLElement {
  const row = make("span", { class: `pips ${side}` });
  row.setAttribute("aria-hidden", "true");
  for (let index = 0; index < count; index += 1) row.append(make("i"));
  return row;
}

function kinds(side: Side, { view, kind }: HandsState, choose: (kind: string) => void): HTMLElement {
  const group = make("div", { class: "kinds" });
  group.setAttribute("role", "group");
  group.setAttribute("aria-label", texts.chooseKind);
  for (const offered of view.options.kinds) {
    const made = button("", () => choose(offered), { title: texts.enterKind(offered) });
    made.dataset["kind"] = offered;
    made.setAttribute("aria-pressed", String(offered === kind));
    made.append(icon(kindStack(offered, side), 30), make("span", {}, texts.enterKind(offered)));
    group.append(made);
  }
  const holds = view.sides[SIDES.indexOf(side)] as Holdings;
  const rule = texts.stage(holds.stage, holds.potentials.some((count) => count > 0));
  if (rule !== "") group.append(make("small", { class: "muted" }, rule));
  return group;
}
