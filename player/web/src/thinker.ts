/** The page's side of the worker. */
import type { Knowledge, PlayerInfo, Task, Thinker, Thought } from "./desk";
import { Fault } from "./wasm";
import type { Order, Report } from "./worker";

/** Whoever waits for an answer to the order of this number. */
interface Waiting<T> {
  id: number;
  resolve(answer: T): void;
  reject(reason: unknown): void;
}

export class WorkerThinker implements Thinker {
  private readonly worker: Worker;
  private readonly ready: Promise<PlayerInfo>;
  private waiting: Waiting<Thought> | undefined;
  private readonly asking = new Map<number, Waiting<Knowledge>>();
  private count = 0;

  /** Starts the worker from its own text, with the program and the player. */
  constructor(source: string, wasm: Uint8Array<ArrayBuffer>, player: Uint8Array<ArrayBuffer>) {
    const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
    this.worker = new Worker(url);
    this.ready = new Promise((resolve, reject) => {
      this.worker.onmessage = ({ data }: MessageEvent<Report>) => {
        if (data.report === "ready") {
          URL.revokeObjectURL(url);
          resolve(data.player);
        } else if (data.report === "thought") {
          this.settle(data.id)?.resolve(data.thought);
        } else if (data.report === "knows") {
          this.asked(data.id)?.resolve(data.knowledge);
        } else {
          const fault = new Fault(data.fault);
          if (data.id === undefined) reject(fault);
          else (this.settle(data.id) ?? this.asked(data.id))?.reject(fault);
        }
      };
      this.worker.onerror = (event) => {
        const fault = new Fault(event.message);
        reject(fault);
        this.waiting?.reject(fault);
      };
    });
    this.order({ order: "load", wasm, player });
  }

  player(): Promise<PlayerInfo> {
    return this.ready;
  }

  async knows(rules: string): Promise<Knowledge> {
    await this.ready;
    const id = (this.count += 1);
    return new Promise((resolve, reject) => {
      this.asking.set(id, { id, resolve, reject });
      this.order({ order: "knows", id, rules });
    });
  }

  async think(task: Task, signal: AbortSignal): Promise<Thought> {
    await this.ready;
    signal.throwIfAborted();
    const id = (this.count += 1);
    this.waiting?.reject(new DOMException("another task came", "AbortError"));
    return new Promise((resolve, reject) => {
      this.waiting = { id, resolve, reject };
      signal.addEventListener("abort", () => {
        if (this.settle(id) === undefined) return;
        this.order({ order: "drop" });
        reject(signal.reason);
      }, { once: true });
      this.order({ order: "think", id, task });
    });
  }

  hurry(): void {
    this.order({ order: "hurry" });
  }

  private asked(id: number): Waiting<Knowledge> | undefined {
    const waiting = this.asking.get(id);
    this.asking.delete(id);
    return waiting;
  }

  private settle(id: number): Waiting<Thought> | undefined {
    if (this.waiting?.id !== id) return undefined;
    const waiting = this.waiting;
    this.waiting = undefined;
    return waiting;
  }

  private order(order: Order): void {
    this.worker.postMessage(order);
  }
}
