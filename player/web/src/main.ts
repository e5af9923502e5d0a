/** Puts the page together: who answers it, its texts, its game. */
import { type Desk, HttpDesk, type PlayerInfo, type Thinker, WasmDesk } from "./desk";
import { copyText, newGame, pasteGame } from "./dialogs";
import { icon } from "./drawing";
import { byId, make } from "./elements";
import type { Game } from "./messages";
import { type Seats, Session } from "./session";
import { kept } from "./storage";
import { Table } from "./table";
import { texts } from "./texts";
import { WorkerThinker } from "./thinker";
import { inlined, Program } from "./wasm";

/** Fills the texts of the page itself: `data-text` names the text of an element, `data-label` that of its label. */
function fillTexts(): void {
  document.documentElement.lang = texts.language;
  document.title = texts.title;
  const text = (key: string | undefined): string => {
    const value = (texts as unknown as Record<string, unknown>)[key ?? ""];
    if (typeof value !== "string") throw new Error(`no text "${key}"`);
    return value;
  };
  for (const element of document.querySelectorAll<HTMLElement>("[data-text]")) element.textContent = text(element.dataset["text"]);
  for (const element of document.querySelectorAll<HTMLElement>("[data-label]")) {
    element.setAttribute("aria-label", text(element.dataset["label"]));
    // A button that shows a sign alone tells its name to the mouse as well.
    if (element instanceof HTMLButtonElement) element.title = text(element.dataset["label"]);
  }
  byId("legend").append(...texts.legendItems.map(([stack, words]) => make("li", {}, icon(stack, 34), words)));
}

/** Who answers: the service that gave the page out, or the program and the player within the page. */
async function answering(): Promise<{ desk: Desk; thinker: Thinker | undefined; player: PlayerInfo | undefined }> {
  if (document.documentElement.dataset["answers"] === "service") {
    const service = new HttpDesk();
    return { desk: service, thinker: service, player: await service.player() };
  }
  const wasm = inlined("wasm");
  const desk = new WasmDesk(await Program.start(wasm));
  const file = inlined("player");
  if (file.length === 0) return { desk, thinker: undefined, player: undefined };
  const thinker = new WorkerThinker(byId("worker").textContent ?? "", wasm, file);
  return { desk, thinker, player: await thinker.player() };
}

/** The game that was left open, else a new one by the player's first rules. */
async function firstSession(desk: Desk, thinker: Thinker | undefined, player: PlayerInfo | undefined): Promise<{ session: Session; opinion: boolean }> {
  const before = kept();
  if (before !== undefined && (player !== undefined || (before.seats.w === "person" && before.seats.b === "person"))) {
    try {
      return { session: await Session.of(desk, thinker, before.game, before.seats), opinion: before.opinion };
    } catch {
      // Kept by another version, or damaged: a new game then.
    }
  }
  const game: Game = { rules: player?.rules[0] ?? "standard", plays: [] };
  const seats: Seats = { w: "person", b: player === undefined ? "person" : "player", strength: 5 };
  return { session: await Session.of(desk, thinker, game, seats), opinion: true };
}

async function open(): Promise<void> {
  fillTexts();
  const { desk, thinker, player } = await answering();
  const { session, opinion } = await firstSession(desk, thinker, player);
  const table = new Table(desk, thinker, player, session, opinion);
  byId("player-name").textContent = player === undefined ? "" : texts.playerName(player.name);
  byId("new").addEventListener("click", () => newGame(desk, thinker, player, table.before, (game, seats) => table.begin(game, seats)));
  byId("copy").addEventListener("click", () => {
    const tell = (said: string | undefined): void => { byId("told").textContent = said ?? ""; };
    desk.ask("write", table.session.game).then(({ text }) => copyText(text)).then(tell, (error: unknown) => tell(String(error)));
  });
  byId("paste").addEventListener("click", () => pasteGame(desk, (game) => table.open(game)));
  byId("set-up").addEventListener("click", () => table.edit());
  byId("turn").addEventListener("click", () => table.turn());
  document.documentElement.dataset["ready"] = String(Math.round(performance.now()));
}

open().catch((error: unknown) => {
  byId("status").textContent = texts.status.failed(error instanceof Error ? error.message : String(error));
});
