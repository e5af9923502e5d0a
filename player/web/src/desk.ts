/** Who answers the page: the program in WebAssembly within it, or `gipf-player serve` behind it. */
import type { Game, Questions } from "./messages";
import { Fault, type Program } from "./wasm";

/** Answers what needs the rules alone. */
export interface Desk {
  ask<Q extends keyof Questions>(question: Q, body: Questions[Q][0]): Promise<Questions[Q][1]>;
}

/** A player: what it is called, the rules strings it was trained for (none: any), its network. */
export interface PlayerInfo {
  name: string;
  rules: string[];
  network: string;
}

/** Whether a player was trained for a game, and why not. */
export interface Knowledge {
  knows: boolean;
  why?: string;
}

/** What is to be thought about: the play of a strength (`best`), or an opinion after so many nodes (`analysis`). */
export type Task =
  | { game: Game; strength: number; seed: number }
  | { game: Game; nodes: number };

/** What was found so far. */
export interface Thought {
  done: boolean;
  play: string;
  /** White's chances, 0 to 1; absent where there was nothing to choose, and so nothing to search. */
  white?: number;
  nodes: number;
  proven: boolean;
  /** The expected plays, the choice first. */
  line: string[];
  /** The plays with the largest shares of the search's policy. */
  top: { play: string; official: string; share: number }[];
}

/** Chooses plays and judges positions. One task at a time: whoever asks again withdraws the task before. */
export interface Thinker {
  player(): Promise<PlayerInfo>;
  knows(rules: string): Promise<Knowledge>;
  think(task: Task, signal: AbortSignal): Promise<Thought>;
  /** Ends the running task with what has been found, where that can be done. */
  hurry?(): void;
}

/** The rules within the page. */
export class WasmDesk implements Desk {
  constructor(private readonly program: Program) {}

  ask<Q extends keyof Questions>(question: Q, body: Questions[Q][0]): Promise<Questions[Q][1]> {
    // A fault must come as a rejected promise, as it does from a service.
    return new Promise((resolve) => { resolve(this.program.ask(question, body) as Questions[Q][1]); });
  }
}

/** Rules and search of the service that gave the page out. */
export class HttpDesk implements Desk, Thinker {
  ask<Q extends keyof Questions>(question: Q, body: Questions[Q][0]): Promise<Questions[Q][1]> {
    return this.fetch(question, body) as Promise<Questions[Q][1]>;
  }

  player(): Promise<PlayerInfo> {
    return this.fetch("player") as Promise<PlayerInfo>;
  }

  knows(rules: string): Promise<Knowledge> {
    return this.fetch("knows", { rules }) as Promise<Knowledge>;
  }

  think(task: Task, signal: AbortSignal): Promise<Thought> {
    return this.fetch("strength" in task ? "best" : "analysis", task, signal) as Promise<Thought>;
  }

  private async fetch(path: string, body?: unknown, signal?: AbortSignal): Promise<unknown> {
    const response = await fetch(`api/${path}`, {
      ...(body === undefined ? {} : { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
    const answer: unknown = await response.json();
    if (!response.ok) throw new Fault((answer as { error?: string }).error ?? response.statusText);
    return answer;
  }
}
