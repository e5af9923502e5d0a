/** Setting a position up: pieces on spots, hands, stages, whose turn it is; the result is a position text (rules, section 10). */
import { kindStack } from "./choice";
import { icon } from "./drawing";
import { button, field, make, number, select } from "./elements";
import { SPOTS } from "./geometry";
import { type Game, type Side, SIDES, type View } from "./messages";
import { texts } from "./texts";

const KINDS = ["T", "Z", "D", "Y", "P"];

export class SetUp {
  readonly stacks: Record<string, string>;
  private readonly text: HTMLInputElement;
  private readonly fault = make("p", { class: "fault", role: "alert" });
  private tool = "S";
  private color: Side = "w";
  private readonly hands: Record<Side, { basic: HTMLInputElement; potentials: HTMLInputElement[]; stage: HTMLSelectElement }>;
  private readonly mover: HTMLSelectElement;

  /**
   * Begins with a position. `changed` hears of every change of the board, `start` of a game that begins with the position and
   * may refuse it, `end` where nothing comes of it.
   */
  constructor(
    private readonly panel: HTMLElement, private readonly view: View,
    private readonly changed: () => void, private readonly start: (game: Game) => Promise<void>, private readonly end: () => void,
  ) {
    this.stacks = { ...view.stacks };
    const hand = (index: 0 | 1) => {
      const { hand: basic, potentials, stage } = view.sides[index];
      return {
        basic: number(basic, 0, view.rules.basic[index]),
        potentials: KINDS.map((_, kind) => number(potentials[kind] ?? 0, 0, view.rules.mixes[index][kind] ?? 0)),
        stage: select(Object.entries(texts.stages), stage),
      };
    };
    this.hands = { w: hand(0), b: hand(1) };
    this.mover = select(SIDES.map((side): [string, string] => [side, texts.side(side)]), view.mover);
    this.text = make("input", { type: "text", spellcheck: false, autocapitalize: "off", autocomplete: "off", id: "position-text" });
    this.build();
    this.write();
  }

  /** A spot was pressed: what is chosen is placed there. */
  press(spot: string): void {
    if (!SPOTS.includes(spot)) return;
    const before = this.stacks[spot] ?? "";
    const cased = (letters: string): string => (this.color === "w" ? letters : letters.toLowerCase());
    if (this.tool === "") delete this.stacks[spot];
    else if (this.tool === "S" || this.tool === "G") this.stacks[spot] = cased(this.tool);
    else this.stacks[spot] = before + cased(this.tool);
    this.write();
    this.changed();
  }

  private build(): void {
    const tools = make("div", { class: "kinds" });
    tools.setAttribute("role", "group");
    tools.setAttribute("aria-label", texts.place);
    const mixed = KINDS.filter((_, index) => this.view.rules.mixes.some((mix) => (mix[index] ?? 0) > 0));
    const kinds = ["S", ...(this.view.rules.variant === "basic" ? [] : ["G"]), ...mixed, ""];
    const show = (): void => {
      tools.replaceChildren(...kinds.map((kind) => {
        const name = kind === "" ? texts.erase : texts.kind(kind);
        const made = button("", () => { this.tool = kind; show(); }, { title: name });
        made.dataset["tool"] = kind;
        made.setAttribute("aria-pressed", String(kind === this.tool));
        const cased = this.color === "w" ? kind : kind.toLowerCase();
        if (kind !== "") made.append(icon(mixed.includes(kind) ? cased : kindStack(kind, this.color), 30));
        made.append(make("span", {}, name));
        return made;
      }));
    };
    const color = select(SIDES.map((side): [string, string] => [side, texts.side(side)]), this.color);
    color.addEventListener("input", () => { this.color = color.value as Side; show(); });
    show();
    const hands = SIDES.map((side, index) => {
      const { basic, potentials, stage } = this.hands[side];
      const group = make("div", { class: "fields" }, field(texts.handOf(side), basic));
      potentials.forEach((input, kind) => {
        if ((this.view.rules.mixes[index as 0 | 1][kind] ?? 0) > 0) group.append(field(texts.handPotential(side, KINDS[kind] ?? ""), input));
      });
      group.append(field(texts.stageOf(side), stage));
      return group;
    });
    const form = make("form", { class: "stack" },
      make("h2", {}, texts.setUpTitle), make("p", { class: "muted" }, texts.setUpHelp), field(texts.color, color), tools,
      ...hands, field(texts.toMove, this.mover), field(texts.positionText, this.text), this.fault,
      make("div", { class: "row" },
        make("button", { type: "submit", class: "primary" }, texts.playFromHere),
        button(texts.clear, () => {
          for (const spot of Object.keys(this.stacks)) delete this.stacks[spot];
          this.write();
          this.changed();
        }),
        button(texts.cancel, () => this.end())));
    form.addEventListener("input", (event) => { if (event.target !== this.text && event.target !== color) this.write(); });
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.start({ rules: this.view.game.rules, start: this.text.value.trim(), plays: [] }).catch((error: unknown) => {
        this.fault.textContent = texts.fault(error instanceof Error ? error.message : String(error));
      });
    });
    this.panel.replaceChildren(form);
    this.panel.hidden = false;
  }

  /** Takes its panel away. */
  clear(): void {
    this.panel.replaceChildren();
    this.panel.hidden = true;
  }

  /** The position's text from what is set. */
  private write(): void {
    this.fault.textContent = "";
    const columns = new Map<string, string>();
    let empty = 0;
    for (const [index, spot] of SPOTS.entries()) {
      const column = spot.charAt(0);
      const stack = this.stacks[spot];
      let text = columns.get(column) ?? "";
      if (stack === undefined) {
        empty += 1;
      } else {
        text += `${empty > 0 ? empty : ""}${stack.length === 1 ? stack : `(${stack})`}`;
        empty = 0;
      }
      if (SPOTS[index + 1]?.charAt(0) !== column) {
        text += empty > 0 ? empty : "";
        empty = 0;
      }
      columns.set(column, text);
    }
    const hand = (side: Side): string => {
      const { basic, potentials } = this.hands[side];
      return basic.value + potentials.map((input, kind) => (Number(input.value) > 0 ? `${KINDS[kind]}${input.value}` : "")).join("");
    };
    const stages = SIDES.map((side) => this.hands[side].stage.value).join("");
    this.text.value = `${[...columns.values()].join("/")} ${hand("w")},${hand("b")} ${stages} ${this.mover.value} m`;
  }
}
