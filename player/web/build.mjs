// Puts the page together in one file: page.html with its style, its script, its worker and the program in WebAssembly.
//
//   node build.mjs PROGRAM.wasm PAGE.html
//
// The place of the player stays marked: `gipf export --to web` and `gipf-player serve` fill it.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

const [wasm, out] = process.argv.slice(2);
if (wasm === undefined || out === undefined) {
  console.error("node build.mjs PROGRAM.wasm PAGE.html");
  process.exit(2);
}

const source = join(import.meta.dirname, "src");
const bundle = async (entry) => {
  const { outputFiles } = await build({
    entryPoints: [join(source, entry)], bundle: true, minify: true, write: false, target: "es2022", format: "iife", charset: "utf8",
    legalComments: "none",
  });
  return outputFiles[0].text.trim();
};

const parts = {
  css: await bundle("page.css"),
  script: await bundle("main.ts"),
  worker: await bundle("worker.ts"),
  wasm: readFileSync(wasm).toString("base64"),
};
let page = readFileSync(join(source, "page.html"), "utf8");
for (const [name, text] of Object.entries(parts)) {
  const place = `/*${name}*/`;
  if (page.split(place).length !== 2) throw new Error(`page.html has not one ${place}`);
  if (/<\/(script|style)/i.test(text)) throw new Error(`${name} would end its element`);
  page = page.replace(place, () => text);
}
writeFileSync(out, page);
console.log(`${out}: ${Math.round(page.length / 1024)} kB, of which ${Math.round(parts.wasm.length / 1024)} kB are the program`);
