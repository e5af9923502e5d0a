// How fast the player of a page thinks in headless chromium: the evaluator beside a multiply-and-add loop of the same program, the
// search around it, and the time from opening to the first move.
//
//   node page.bench.js PAGE.html [SECONDS]
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { launch } from "./browser.js";

const [file, seconds = "6"] = process.argv.slice(2);
const url = pathToFileURL(resolve(file)).href;
const browser = await launch();
try {
  const openings = [];
  for (let round = 0; round < 5; round += 1) {
    const page = await browser.newPage();
    await page.goto(url);
    openings.push(Number(await page.locator("html[data-ready]").getAttribute("data-ready")));
    await page.close();
  }
  const page = await browser.newPage();
  await page.goto(url);
  await page.locator("html[data-ready]").waitFor();
  const figures = await page.evaluate(async (limit) => {
    const bytes = (id) => Uint8Array.from(atob(document.getElementById(id).textContent), (letter) => letter.charCodeAt(0));
    const { instance } = await WebAssembly.instantiate(bytes("wasm"), {});
    const program = instance.exports;
    // Reserving may grow the memory: the view of it is made afterwards.
    const write = (data) => {
      const place = program.reserve(data.length);
      new Uint8Array(program.memory.buffer, place, data.length).set(data);
    };
    const answer = () => JSON.parse(new TextDecoder().decode(new Uint8Array(program.memory.buffer, program.output(), program.output_length())));
    const must = (code) => { if (code !== 0) throw new Error(answer().error); return answer(); };
    write(bytes("player"));
    must(program.load());
    const rivals = {
      peak: () => program.bench_peak(),
      f32: () => { for (let round = 0; round < 8; round += 1) program.bench_evaluate(0); return 8; },
      playing: () => { for (let round = 0; round < 8; round += 1) program.bench_evaluate(1); return 8; },
    };
    /** Turns of a few hundredths of a second, so that whatever else the machine does hits all alike: work a second of each. */
    const race = (names, time) => {
      const sums = Object.fromEntries(names.map((name) => [name, { work: 0, time: 0 }]));
      for (const end = performance.now() + 1000 * time; performance.now() < end;) {
        for (const name of names) {
          const began = performance.now();
          while (performance.now() < began + 40) sums[name].work += rivals[name]();
          sums[name].time += performance.now() - began;
        }
      }
      return Object.fromEntries(names.map((name) => [name, (1000 * sums[name].work) / sums[name].time]));
    };
    const batch = 32;
    const [operations] = must(program.bench_prepare(batch));
    race(["peak", "f32", "playing"], 1); // the browser's own compiler warms up
    const together = race(["peak", "f32", "playing"], limit / 2);
    must(program.bench_prepare(1));
    const question = new TextEncoder().encode(`analysis${JSON.stringify({ game: { rules: "standard" }, nodes: 20000 })}`);
    rivals.search = () => {
      // A new question each time: the tree is not that of the last one.
      write(question);
      must(program.think(8));
      must(program.go_on(200));
      return 200;
    };
    race(["playing", "search"], 1);
    const alone = race(["playing", "search"], limit / 2);
    return {
      peak_gflops: together.peak / 1e9,
      f32_gflops: (together.f32 * batch * operations) / 1e9,
      f32_positions_per_second: together.f32 * batch,
      f32_percent_of_peak: (100 * together.f32 * batch * operations) / together.peak,
      playing_positions_per_second: together.playing * batch,
      playing_percent_of_peak: (100 * together.playing * batch * operations) / together.peak,
      playing_batch_1_per_second: alone.playing,
      search_evaluations_per_second: alone.search,
      search_adds_percent: 100 * (alone.playing / alone.search - 1),
    };
  }, Number(seconds));
  openings.sort((one, other) => one - other);
  console.log(JSON.stringify({ opening_ms_median: openings[2], opening_ms_slowest: openings[4], ...figures }, undefined, 2));
} finally {
  await browser.close();
}
