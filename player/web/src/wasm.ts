/** The program in WebAssembly: `player/wasm`. Texts and bytes go through its two buffers. */

interface Exports {
  memory: WebAssembly.Memory;
  reserve(length: number): number;
  output(): number;
  output_length(): number;
  answer(question: number): number;
  load(): number;
  knows(): number;
  think(question: number): number;
  go_on(evaluations: number): number;
}

/** What the program refuses, in its own words. */
export class Fault extends Error {}

export class Program {
  private readonly exports: Exports;

  private constructor(instance: WebAssembly.Instance) {
    this.exports = instance.exports as unknown as Exports;
  }

  /** Compiles the program and starts it. It imports nothing. */
  static async start(bytes: Uint8Array<ArrayBuffer>): Promise<Program> {
    const { instance } = await WebAssembly.instantiate(bytes, {});
    return new Program(instance);
  }

  /** Asks what needs the rules alone. */
  ask(question: string, body: unknown): unknown {
    return this.result(this.exports.answer(this.writeQuestion(question, body)));
  }

  /** Loads a player's file. */
  load(file: Uint8Array): unknown {
    this.write(file);
    return this.result(this.exports.load());
  }

  /** Whether the player loaded knows a game. */
  knows(rules: string): unknown {
    this.write(new TextEncoder().encode(JSON.stringify({ rules })));
    return this.result(this.exports.knows());
  }

  /** Begins to think about a question, `best` or `analysis`. */
  think(question: string, body: unknown): void {
    this.result(this.exports.think(this.writeQuestion(question, body)));
  }

  /** Thinks on for so many evaluations: the thought so far, whose `done` says whether it is the last. */
  goOn(evaluations: number): unknown {
    return this.result(this.exports.go_on(evaluations));
  }

  /** Writes a question behind its name: the length of the name. */
  private writeQuestion(question: string, body: unknown): number {
    const name = new TextEncoder().encode(question);
    const text = new TextEncoder().encode(JSON.stringify(body));
    const all = new Uint8Array(name.length + text.length);
    all.set(name);
    all.set(text, name.length);
    this.write(all);
    return name.length;
  }

  private write(bytes: Uint8Array): void {
    const at = this.exports.reserve(bytes.length);
    // Reserving may have grown the memory: a view made before it would be empty.
    new Uint8Array(this.exports.memory.buffer, at, bytes.length).set(bytes);
  }

  private result(code: number): unknown {
    const { output, output_length, memory } = this.exports;
    const text = new TextDecoder().decode(new Uint8Array(memory.buffer, output(), output_length()));
    const answer: unknown = JSON.parse(text);
    if (code !== 0) throw new Fault((answer as { error: string }).error);
    return answer;
  }
}

/** The bytes that stand in the page as base64, in a script element that no browser runs. */
export function inlined(id: string): Uint8Array<ArrayBuffer> {
  const text = atob(document.getElementById(id)?.textContent?.trim() ?? "");
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index += 1) bytes[index] = text.charCodeAt(index);
  return bytes;
}
