/** The page's dialogs: a new game, a pasted game, a game to copy. */
import type { Desk, PlayerInfo, Thinker } from "./desk";
import { button, field, make, number, select } from "./elements";
import { type Game, type RulesView, SIDES } from "./messages";
import type { Seats } from "./session";
import { texts } from "./texts";

const KINDS = ["T", "Z", "D", "Y", "P"];

/** Opens a dialog around a form; whoever submits it answers, and may refuse with a fault that is shown. */
export function openDialog(title: string, parts: Node[], confirm: string | undefined, submit: () => Promise<void>): HTMLDialogElement {
  const fault = make("p", { class: "fault", role: "alert" });
  const buttons = make("div", { class: "row" });
  if (confirm !== undefined) buttons.append(make("button", { type: "submit", class: "primary" }, confirm));
  const form = make("form", { method: "dialog" }, make("h2", {}, title), ...parts, fault, buttons);
  const dialog = make("dialog", {}, form);
  dialog.setAttribute("aria-label", title);
  buttons.append(button(confirm === undefined ? texts.close : texts.cancel, () => dialog.close()));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    submit().then(() => dialog.close(), (error: unknown) => {
      fault.textContent = texts.fault(error instanceof Error ? error.message : String(error));
    });
  });
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/** Counts of the five potentials. */
function mixFields(label: string, counts: number[]): { element: HTMLFieldSetElement; text(): string } {
  const inputs = counts.map((count) => number(count, 0, 6));
  const element = make("fieldset", { class: "mix" }, make("legend", {}, label));
  inputs.forEach((input, index) => element.append(field(texts.kind(KINDS[index] ?? ""), input)));
  const text = (): string => inputs.map((input, index) => (Number(input.value) > 0 ? `${KINDS[index]}${input.value}` : "")).join("");
  return { element, text };
}

/** Fields from which a rules string is put together, and the string itself, which may also be typed. */
function rulesFields(rules: RulesView, text: string): { element: HTMLElement; value(): string } {
  const variant = select(Object.entries(texts.variants), text.startsWith("ultimate") ? "ultimate" : rules.variant);
  const pieces = number(rules.basic[0], 15, 21);
  const [white, black] = [mixFields(texts.potentials, rules.mixes[0]), mixFields(texts.blackPotentials, rules.mixes[1])];
  const own = make("input", { type: "checkbox", checked: String(rules.mixes[0]) !== String(rules.mixes[1]) });
  const challenge = select(Object.entries(texts.challengeKinds), /challenge=(rps|coin|recorded)/.exec(text)?.[1] ?? "");
  const convert = make("input", { type: "checkbox", checked: text.includes("punct=convert") });
  const typed = make("input", { type: "text", value: text, spellcheck: false, autocapitalize: "off", autocomplete: "off" });
  typed.id = "rules";
  const details = make("div", { class: "stack" },
    field(texts.pieces, pieces), white.element, field(texts.blackOwn, own), black.element);
  const compose = (): void => {
    const ultimate = variant.value === "ultimate";
    details.hidden = ultimate;
    black.element.hidden = !own.checked;
    const mixes = [white.text(), own.checked ? black.text() : white.text()];
    const kind = mixes.map((mix) => mix || "T0");
    let string = variant.value;
    if (!ultimate) {
      if (Number(pieces.value) !== (variant.value === "basic" ? 15 : 18)) string += `:${pieces.value}`;
      if (mixes.some((mix) => mix !== "")) string += `+${kind[0] === kind[1] ? kind[0] : kind.join("|")}`;
    }
    if (challenge.value !== "") string += `;challenge=${challenge.value}`;
    if (convert.checked) string += ";punct=convert";
    typed.value = string;
  };
  variant.addEventListener("change", () => { if (variant.value !== "ultimate") pieces.value = variant.value === "basic" ? "15" : "18"; });
  const element = make("div", { class: "stack" },
    field(texts.variant, variant), details, field(texts.challengeRule, challenge), field(texts.convert, convert), field(texts.rulesString, typed));
  element.addEventListener("input", (event) => { if (event.target !== typed) compose(); });
  details.hidden = variant.value === "ultimate";
  black.element.hidden = !own.checked;
  return { element, value: () => typed.value.trim() };
}

/** Asks for a new game. */
export function newGame(
  desk: Desk, thinker: Thinker | undefined, player: PlayerInfo | undefined, before: { seats: Seats; rules: string; view: RulesView },
  begin: (game: Game, seats: Seats) => Promise<void>,
): void {
  const { seats } = before;
  const alone = player !== undefined && SIDES.some((side) => seats[side] === "player");
  const opponent = select([["player", texts.againstPlayer], ["people", texts.twoPeople]].filter(([key]) => key === "people" || player !== undefined) as [string, string][],
    alone ? "player" : "people");
  opponent.id = "opponent";
  const strength = make("input", { type: "range", min: "1", max: "10", value: String(seats.strength), id: "strength" });
  const level = make("output", {}, texts.strengthTells(seats.strength));
  strength.addEventListener("input", () => { level.textContent = texts.strengthTells(Number(strength.value)); });
  const color = select([["w", texts.side("w")], ["b", texts.side("b")], ["either", texts.either]], seats.b === "person" && seats.w === "player" ? "b" : "w");
  color.id = "color";
  const known = player?.rules.length ? player.rules : ["standard"];
  const offered = [...new Set([...known, before.rules, "basic", "standard", "tournament", "ultimate"])];
  const game = select([...offered.map((rules): [string, string] => [rules, rules]), ["", texts.otherGame]], before.rules);
  game.id = "game";
  const rules = rulesFields(before.view, before.rules);
  rules.element.hidden = true;
  const chosen = (): string => (game.value === "" ? rules.value() : game.value);
  const against = make("div", { class: "stack" },
    field(texts.strength, make("span", { class: "row" }, strength, level)), field(texts.yourColor, color));
  const update = (): void => {
    against.hidden = opponent.value !== "player";
    rules.element.hidden = game.value !== "";
  };
  openDialog(texts.newGame, [
    field(texts.opponent, opponent), against, field(texts.game, game), rules.element,
  ], texts.start, async () => {
    const view = await desk.ask("position", { rules: chosen(), plays: [] });
    const mine = color.value === "either" ? (Math.random() < 0.5 ? "w" : "b") : color.value;
    const seat = (side: string) => (opponent.value === "people" || side === mine ? "person" : "player");
    const knowledge = opponent.value === "player" ? await thinker?.knows(view.game.rules) : undefined;
    if (knowledge?.knows === false) throw new Error(knowledge.why ?? texts.notForPlayer);
    await begin(view.game, { w: seat("w"), b: seat("b"), strength: Number(strength.value) });
  }).addEventListener("input", update);
  update();
}

/** Asks for a game to read. */
export function pasteGame(desk: Desk, begin: (game: Game) => Promise<void>): void {
  const text = make("textarea", { rows: 10, spellcheck: false, required: true, id: "pasted" });
  openDialog(texts.pasteTitle, [make("p", { class: "muted" }, texts.pasteHelp), field(texts.pasteText, text)], texts.read,
    async () => begin(await desk.ask("read", { text: text.value })));
  text.focus();
}

/** Copies a text; where the browser does not let the page do it, it is shown to be copied by hand. Says what was done. */
export async function copyText(text: string): Promise<string | undefined> {
  try {
    await navigator.clipboard.writeText(text);
    return texts.copied;
  } catch {
    const shown = make("textarea", { rows: 10, readOnly: true, value: text, id: "copied" });
    openDialog(texts.copyTitle, [make("p", {}, texts.copyByHand), field(texts.pasteText, shown)], undefined, async () => undefined);
    shown.select();
    return undefined;
  }
}
