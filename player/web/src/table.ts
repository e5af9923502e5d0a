/** The table: a game on the board, whoever is to decide, and what both think of it. */
import { Board, type Marks, type Means, noMarks } from "./board";
import { Choice } from "./choice";
import type { Desk, PlayerInfo, Thinker, Thought } from "./desk";
import { button, byId } from "./elements";
import { SPOTS } from "./geometry";
import { showHand } from "./hands";
import { type Game, SIDES } from "./messages";
import { showBar, showGraph, showMoves } from "./moves";
import { type Offer, prompt } from "./prompt";
import { drawn, type Seats, Session } from "./session";
import { SetUp } from "./setup";
import { keep } from "./storage";
import { playWords, texts } from "./texts";
import { Fault } from "./wasm";

/** Simulations of a hint, and of the opinion on a position. */
const HINT_NODES = 400;
const OPINION_NODES = 64;
/** Milliseconds that a position is seen before the player's play, chance or a play without an alternative changes it. */
const PAUSE = matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 500;

export class Table {
  private readonly board: Board;
  private choice: Choice | undefined;
  private kind: string | undefined;
  private hover: string | undefined;
  private setup: SetUp | undefined;
  private hinted: Thought["top"] = [];
  private message = "";
  /** What goes on: somebody thinks, or a play is about to be made. */
  private activity: AbortController | undefined;
  private thinking = false;
  private opinionOn: boolean;

  constructor(
    private readonly desk: Desk, private readonly thinker: Thinker | undefined, readonly player: PlayerInfo | undefined,
    public session: Session, opinionOn: boolean,
  ) {
    this.opinionOn = opinionOn && thinker !== undefined;
    this.board = new Board(byId<SVGSVGElement>("board"), {
      press: (point, means) => this.press(point, means),
      hover: (point) => this.point(point),
      escape: () => { if (this.choice?.clear()) this.mark(); },
    });
    const opinion = byId<HTMLInputElement>("opinion-on");
    opinion.checked = this.opinionOn;
    opinion.disabled = thinker === undefined;
    opinion.addEventListener("change", () => {
      this.opinionOn = opinion.checked;
      this.show(false);
      this.next();
    });
    this.buttons();
    this.board.turn(this.facing());
    this.show(false);
    this.next();
  }

  // ---- Games

  /** Begins with another game. */
  async begin(game: Game, seats: Seats): Promise<void> {
    const session = await Session.of(this.desk, this.thinker, game, seats);
    this.stop();
    this.leaveSetUp();
    this.session = session;
    this.kind = undefined;
    this.hinted = [];
    this.message = "";
    this.board.turn(this.facing());
    this.show(false);
    this.next();
  }

  /** Goes on with another game, the colours as they were. */
  async open(game: Game): Promise<void> {
    await this.begin(game, this.session.seats);
  }

  /** Whether Black sits below: where only Black is played at the page. */
  private facing(): boolean {
    return this.session.seats.w === "player" && this.session.seats.b === "person";
  }

  turn(): void {
    this.board.turn(!this.board.isTurned);
    this.show(false);
  }

  /** Sets up a position by hand. */
  edit(): void {
    this.stop();
    this.setup = new SetUp(byId("setup"), this.session.view,
      () => this.show(false),
      async (game) => this.begin(game, this.session.seats),
      () => {
        this.leaveSetUp();
        this.show(false);
        this.next();
      });
    document.body.classList.add("editing");
    this.show(false);
  }

  private leaveSetUp(): void {
    this.setup?.clear();
    this.setup = undefined;
    document.body.classList.remove("editing");
  }

  // ---- Decisions

  /** Whether somebody at the page has the word, where the board stands. */
  private get isOpen(): boolean {
    const { view, isAtEnd } = this.session;
    const chance = view.phase === "side_game" && view.options.outcomes.some(({ probability }) => probability === undefined);
    return this.setup === undefined && isAtEnd && view.end === undefined && (this.session.isPerson(view.decider) || chance);
  }

  private press(point: string, means: Means): void {
    if (this.setup !== undefined) {
      this.setup.press(point);
    } else if (this.isOpen && this.choice !== undefined) {
      const play = this.choice.press(point, means);
      if (play !== undefined) this.play(play);
      else this.mark();
    }
  }

  private point(point: string | undefined): void {
    if (this.hover === point) return;
    this.hover = point;
    if (this.choice !== undefined) this.mark();
  }

  /** Makes a play, tells of it, and goes on. */
  play(play: string): void {
    this.stop();
    this.session.play(play).then(() => {
      const { view } = this.session;
      const turn = view.turns.at(-1);
      const made = turn?.plays.at(-1);
      if (turn !== undefined && made !== undefined) this.message = texts.played(turn.by, playWords(made.official));
      const entered = /^([GTZDYP]?)[a-i]\d-/.exec(play);
      if (entered !== null && this.session.isPerson(view.last?.by)) this.kind = entered[1] || "S";
      this.hinted = [];
      this.show(true);
      this.next();
    }, (error: unknown) => this.fail(error));
  }

  /** Whoever is to decide does: the player thinks, chance falls, a play without an alternative is made. */
  private next(): void {
    const { view, isAtEnd } = this.session;
    if (!isAtEnd || this.setup !== undefined) return;
    const { plays, outcomes } = view.options;
    if (view.end === undefined && view.phase === "side_game") {
      if (outcomes.every(({ probability }) => probability !== undefined)) this.later(() => this.play(drawn(outcomes)));
    } else if (view.end === undefined && view.decider !== undefined && !this.session.isPerson(view.decider)) {
      this.think();
      return;
    } else if (view.end === undefined && view.phase === "removal" && plays.length === 1) {
      this.later(() => this.play(plays[0] ?? ""));
    }
    this.judge();
  }

  private later(act: () => void): void {
    const { signal } = this.start();
    setTimeout(() => { if (!signal.aborted) act(); }, PAUSE);
  }

  /** Begins an activity; the one before ends. */
  private start(): AbortController {
    this.stop();
    this.activity = new AbortController();
    return this.activity;
  }

  private stop(): void {
    this.activity?.abort();
    this.activity = undefined;
    if (this.thinking) {
      this.thinking = false;
      this.actions();
    }
  }

  private think(): void {
    const { signal } = this.start();
    const { game, seats, view } = this.session;
    if (this.thinker === undefined) return;
    this.thinking = true;
    this.actions();
    const { seed } = this.session;
    this.thinker.think({ game, strength: seats.strength, seed }, signal).then((thought) => {
      if (signal.aborted) return;
      this.session.values[game.plays.length] = thought.white ?? null;
      // A play that is seen before it is answered can be followed.
      const wait = view.last?.by !== undefined && view.last.by !== view.decider ? PAUSE / 2 : PAUSE;
      setTimeout(() => { if (!signal.aborted) this.play(thought.play); }, wait);
    }, (error: unknown) => { if (!signal.aborted) this.fail(error); });
  }

  /** Thinks about every position of the game that no opinion is known of, the one shown first. */
  private judge(): void {
    const { thinker, session } = this;
    if (!this.opinionOn || thinker === undefined || !session.known) return;
    const plies = [session.at, ...Array.from({ length: session.length + 1 }, (_, index) => session.length - index)];
    const ply = plies.find((index) => session.values[index] === undefined);
    if (ply === undefined) return;
    const { signal } = this.activity ?? this.start();
    const tell = (white: number | null): void => {
      session.values[ply] = white;
      this.opinion();
      this.judge();
    };
    const known = session.result(ply);
    if (known !== null) {
      tell(known);
      return;
    }
    thinker.think({ game: session.part(ply), nodes: OPINION_NODES }, signal).then(
      (thought) => { if (!signal.aborted && this.session === session) tell(thought.white ?? null); },
      // Where a side game is due nobody has to decide, and there is no opinion.
      (error: unknown) => { if (!signal.aborted && error instanceof Fault && this.session === session) tell(null); });
  }

  private hint(): void {
    const { thinker, session } = this;
    if (thinker === undefined) return;
    const { signal } = this.start();
    byId("hint").setAttribute("aria-busy", "true");
    const over = (): void => byId("hint").removeAttribute("aria-busy");
    thinker.think({ game: session.part(session.at), nodes: HINT_NODES }, signal).then((thought) => {
      over();
      if (signal.aborted) return;
      session.values[session.at] = thought.white ?? null;
      this.hinted = thought.top.filter(({ share }, index) => index === 0 || share >= 0.1).slice(0, 3);
      this.message = texts.hintTells(this.hinted.map(({ official, play, share }) => texts.hintPlay(official || play, share)));
      this.show(false);
      this.next();
    }, (error: unknown) => {
      over();
      if (!signal.aborted) this.fail(error);
    });
  }

  private fail(error: unknown): void {
    this.stop();
    this.say(texts.status.failed(error instanceof Error ? error.message : String(error)));
    byId("actions").replaceChildren(button(texts.retry, () => { this.show(false); this.next(); }));
  }

  // ---- Leafing and taking back

  go(ply: number): void {
    if (this.setup !== undefined) return;
    this.stop();
    this.session.go(ply).then(() => {
      this.hinted = [];
      this.message = "";
      this.show(false);
      this.next();
    }, (error: unknown) => this.fail(error));
  }

  private cut(ply: number): void {
    this.stop();
    this.session.cut(ply).then(() => {
      this.hinted = [];
      this.message = "";
      this.show(false);
      this.next();
    }, (error: unknown) => this.fail(error));
  }

  private undo(): void {
    this.stop();
    this.session.undone().then((ply) => (ply === undefined ? this.next() : this.cut(ply)), (error: unknown) => this.fail(error));
  }

  // ---- What is seen

  private buttons(): void {
    const on = (id: string, act: () => void): void => byId(id).addEventListener("click", act);
    on("undo", () => this.undo());
    on("hint", () => this.hint());
    on("first", () => this.go(0));
    on("back", () => this.go(this.session.at - 1));
    on("forward", () => this.go(this.session.at + 1));
    on("last", () => this.go(this.session.length));
    byId("hint").hidden = this.thinker === undefined;
    byId("type").addEventListener("submit", (event) => {
      event.preventDefault();
      const input = byId<HTMLInputElement>("typed");
      const play = input.value.trim();
      if (play === "" || !this.isOpen) return;
      if (this.session.view.options.plays.includes(play)) {
        input.value = "";
        this.play(play);
      } else {
        // The rules' own words say why not.
        this.desk.ask("apply", { game: this.session.game, play }).then(() => undefined,
          (error: unknown) => this.say(texts.fault(error instanceof Error ? error.message : String(error))));
      }
    });
    document.addEventListener("keydown", (event) => {
      const target = event.target as Element;
      if (event.altKey || event.ctrlKey || event.metaKey || target.closest("input, textarea, select, dialog") !== null) return;
      const act: Record<string, () => void> = {
        u: () => byId("undo").click(), h: () => byId("hint").click(), n: () => byId("new").click(),
        ArrowLeft: () => this.go(this.session.at - 1), ArrowRight: () => this.go(this.session.at + 1),
      };
      act[event.key]?.();
    });
  }

  /** Draws everything; `moving`: the last play is seen to move. */
  show(moving: boolean): void {
    const { view } = this.session;
    this.choice = this.isOpen && this.session.isPerson(view.decider) ? new Choice(view, this.kind) : undefined;
    this.kind = this.choice?.kind ?? this.kind;
    this.board.show(this.setup?.stacks ?? view.stacks, this.setup === undefined ? view.last : undefined, moving);
    this.mark();
    this.opinion();
    showMoves(byId("moves"), this.session.last, this.session.at, (ply) => this.go(ply));
    byId("plays").replaceChildren(...(this.isOpen ? view.options.plays : []).slice(0, 300).map((play) => {
      const option = document.createElement("option");
      option.value = play;
      return option;
    }));
    const set = (id: string, off: boolean): void => { byId<HTMLButtonElement>(id).disabled = off; };
    const { at, length } = this.session;
    set("first", at === 0);
    set("back", at === 0);
    set("forward", at === length);
    set("last", at === length);
    set("undo", length === 0 || this.setup !== undefined);
    const area = byId("play-area");
    area.dataset["at"] = String(at);
    area.dataset["phase"] = view.phase;
    area.dataset["word"] = view.end !== undefined ? "over" : this.isOpen ? "person" : "other";
    set("hint", view.end !== undefined || view.decider === undefined || !this.session.known || this.setup !== undefined);
    if (this.setup === undefined) keep({ game: this.session.game, seats: this.session.seats, opinion: this.opinionOn });
  }

  private mark(): void {
    const { view } = this.session;
    let marks: Marks = this.choice?.marks(this.hover) ?? noMarks();
    if (this.setup !== undefined) {
      marks = noMarks();
      for (const spot of SPOTS) {
        marks.targets.set(spot, texts.placeHere);
        marks.quiet.add(spot);
      }
    }
    for (const { play, share } of this.hinted) {
      const move = /^[+A-Z]?([a-i]\d)[-:]([a-i]\d)$/.exec(play);
      if (move?.[1] !== undefined && move[2] !== undefined) marks.arrows.push({ from: move[1], to: move[2], kind: "hint", weight: 0.45 + 0.55 * share });
      else if (/^x[a-i]/.test(play) && play === this.hinted[0]?.play) marks.hinted.push(...play.slice(1).split(","));
    }
    this.board.mark(marks, this.setup === undefined ? view.last : undefined);
    this.hands();
    this.actions();
  }

  private hands(): void {
    const { view, seats } = this.session;
    const name = (side: "w" | "b"): string =>
      seats[side] === "player" ? texts.player(seats.strength) : seats.w === seats.b ? texts.person : texts.you;
    const state = {
      view, names: { w: name("w"), b: name("b") }, kind: this.choice?.kind,
      choosing: this.choice !== undefined && view.phase === "regular" ? view.decider : undefined,
    };
    const choose = (kind: string): void => {
      this.kind = kind;
      if (this.choice !== undefined) this.choice.kind = kind;
      this.choice?.clear();
      this.mark();
      byId(`hand-${view.mover}`).querySelector<HTMLElement>(`button[data-kind=${kind}]`)?.focus();
    };
    for (const side of SIDES) showHand(byId(`hand-${side}`), side, state, choose);
    // Whoever sits below has the hand below.
    byId("play-area").classList.toggle("turned", this.board.isTurned);
  }

  private opinion(): void {
    byId("opinion").hidden = !this.opinionOn || !this.session.known;
    showBar(byId("bar"), this.session.values[this.session.at]);
    showGraph(byId<SVGSVGElement>("graph"), this.session.values, this.session.length, this.session.at, (ply) => this.go(ply));
  }

  private say(text: string): void {
    const status = byId("status");
    if (status.textContent !== text) status.textContent = text;
  }

  /** The line that says what is to be done, and the buttons for what is not done on the board. */
  private actions(): void {
    const { session, choice, thinking, thinker } = this;
    const { text, offers } = this.setup !== undefined ? { text: texts.setUpTitle, offers: [] }
      : prompt({ session, choice, thinking, canHurry: thinker?.hurry !== undefined });
    this.say([this.message, text].filter((part) => part !== "").join(" "));
    byId("actions").replaceChildren(...offers.map(({ text: name, does, primary = false, disabled = false, id }) => {
      const made = button(name, () => this.do(does), { disabled, ...(primary ? { class: "primary" } : {}), ...(id === undefined ? {} : { id }) });
      if (typeof does === "object") made.dataset["play"] = does.play;
      return made;
    }));
  }

  private do(what: Offer["does"]): void {
    if (typeof what === "object") this.play(what.play);
    else if (what === "new") byId("new").click();
    else if (what === "cut") this.cut(this.session.at);
    else this.thinker?.hurry?.();
  }
}
