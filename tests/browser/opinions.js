// Asks the program in a page's WebAssembly, run by node, what it thinks of positions.
//
//   node opinions.js PAGE.html PLAYER QUESTIONS.json
//
// PLAYER: a player's file. QUESTIONS.json: a list of bodies of `analysis`. Prints the answers as a list.
import { readFileSync } from "node:fs";

const [page, player, questions] = process.argv.slice(2);
const wasm = /id="wasm">([^<]*)</.exec(readFileSync(page, "utf8"))[1];
const { instance } = await WebAssembly.instantiate(Buffer.from(wasm, "base64"), {});
const { memory, reserve, output, output_length: length, load, think, go_on: goOn } = instance.exports;

function write(bytes) {
  // Reserving may grow the memory: the view of it is made afterwards.
  const place = reserve(bytes.length);
  new Uint8Array(memory.buffer, place, bytes.length).set(bytes);
}

function result(code) {
  const answer = JSON.parse(Buffer.from(memory.buffer, output(), length()).toString());
  if (code !== 0) throw new Error(answer.error);
  return answer;
}

write(readFileSync(player));
result(load());
const answers = JSON.parse(readFileSync(questions, "utf8")).map((question) => {
  const body = Buffer.from(JSON.stringify(question));
  write(Buffer.concat([Buffer.from("analysis"), body]));
  result(think("analysis".length));
  // In slices, as the page's worker does, and of another size than the native ones.
  for (;;) {
    const thought = result(goOn(7));
    if (thought.done) return thought;
  }
});
console.log(JSON.stringify(answers));
