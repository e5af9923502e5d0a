/** The worker in which the player thinks, in slices, so that it hears of what has changed meanwhile. */
import type { Knowledge, PlayerInfo, Task, Thought } from "./desk";
import { Program } from "./wasm";

/** What the page tells the worker. */
export type Order =
  | { order: "load"; wasm: Uint8Array<ArrayBuffer>; player: Uint8Array<ArrayBuffer> }
  | { order: "knows"; id: number; rules: string }
  | { order: "think"; id: number; task: Task }
  | { order: "hurry" }
  | { order: "drop" };

/** What the worker tells the page. */
export type Report =
  | { report: "ready"; player: PlayerInfo }
  | { report: "knows"; id: number; knowledge: Knowledge }
  | { report: "thought"; id: number; thought: Thought }
  | { report: "fault"; id?: number; fault: string };

/** Milliseconds of a slice: about so late an order is heard. */
const SLICE = 25;
/** Evaluations of the next slice, as many as the last ones say take about so long, up to what any network takes longer for. */
let evaluations = 8;
const MOST_EVALUATIONS = 4096;

const self = globalThis as unknown as { postMessage(report: Report): void; onmessage: ((event: MessageEvent<Order>) => void) | null };

let program: Program | undefined;
/** The task being thought about, and whether it is to end with what it has. */
let current: { id: number; hurried: boolean } | undefined;

function slice(id: number): void {
  if (current?.id !== id || program === undefined) return;
  try {
    const began = performance.now();
    const thought = program.goOn(current.hurried ? 0 : evaluations) as Thought;
    const spent = Math.max(performance.now() - began, 0.1);
    // A slice that ended with its task says little: it may have had far less to do.
    if (!current.hurried && !thought.done) evaluations = Math.max(1, Math.min(2 * evaluations, Math.round((evaluations * SLICE) / spent), MOST_EVALUATIONS));
    if (thought.done || current.hurried) {
      current = undefined;
      self.postMessage({ report: "thought", id, thought: { ...thought, done: true } });
      return;
    }
    setTimeout(slice, 0, id);
  } catch (error) {
    current = undefined;
    self.postMessage({ report: "fault", id, fault: String(error instanceof Error ? error.message : error) });
  }
}

async function obey(order: Order): Promise<void> {
  switch (order.order) {
    case "load": {
      program = await Program.start(order.wasm);
      self.postMessage({ report: "ready", player: program.load(order.player) as PlayerInfo });
      break;
    }
    case "knows": {
      if (program !== undefined) self.postMessage({ report: "knows", id: order.id, knowledge: program.knows(order.rules) as Knowledge });
      break;
    }
    case "think": {
      current = { id: order.id, hurried: false };
      program?.think("strength" in order.task ? "best" : "analysis", order.task);
      slice(order.id);
      break;
    }
    case "hurry": {
      if (current !== undefined) current.hurried = true;
      break;
    }
    case "drop": {
      current = undefined;
      break;
    }
  }
}

self.onmessage = ({ data }) => {
  obey(data).catch((error: unknown) => {
    const fault = String(error instanceof Error ? error.message : error);
    self.postMessage("id" in data ? { report: "fault", id: data.id, fault } : { report: "fault", fault });
  });
};
