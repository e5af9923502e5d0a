// Plays on the page of a player, opened from the disk in a headless browser.
//
//   node page.spec.js STANDARD.html ANY.html VECTORS SERVICE [FOLDER]
//
// STANDARD.html: the page of a player of `standard`; ANY.html: that of one which knows every game. VECTORS: the folder of test vectors,
// whose games tell what is legal and where they end. SERVICE: where a service gives out the page of a player of `standard`. FOLDER gets
// pictures.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { gunzipSync } from "node:zlib";
import { launch, watch } from "./browser.js";
import { Table } from "./table.js";

const [standard, any, vectors, service, pictures] = process.argv.slice(2);
const urls = { standard: pathToFileURL(resolve(standard)).href, any: pathToFileURL(resolve(any)).href };
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const PHONE = { width: 390, height: 844 };
const DESK = { width: 1280, height: 900 };

const games = (rules) => gunzipSync(readFileSync(join(vectors, `games/games-${rules}.jsonl.gz`))).toString().trim().split("\n").map((line) => JSON.parse(line));

const browser = await launch();

/** Opens a page, does something at it, and checks that the page did nothing that it must not. */
async function at(url, viewport, act, options = {}) {
  const touch = viewport === PHONE;
  // Whoever wants no motion is not kept waiting between plays either.
  const context = await browser.newContext({ viewport, hasTouch: touch, reducedMotion: "reduce", ...options });
  const page = await context.newPage();
  // The page of a service asks that service; the page from the disk asks nobody.
  const own = (asked) => asked === url || (url === service && asked.startsWith(`${service}api/`));
  const faults = watch(page, (asked) => own(asked) || asked.startsWith("blob:") || asked.startsWith("data:"));
  const table = new Table(page, { touch });
  await table.open(url);
  await act(table, page);
  assert.deepEqual(faults, []);
  await context.close();
}

async function checkAccess(page, what) {
  if (await page.evaluate(() => window.axe === undefined)) await page.addScriptTag({ content: axe });
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  const bad = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  assert.deepEqual(bad.map(({ id, nodes }) => [id, nodes.slice(0, 3).map(({ html, failureSummary }) => `${html}: ${failureSummary}`)]), [], what);
}

async function checkWidth(page) {
  const { content, width } = await page.evaluate(() => ({ content: document.documentElement.scrollWidth, width: document.documentElement.clientWidth }));
  assert.ok(content <= width, `${content} wide in ${width}`);
}

/**
 * Plays one game to its end, and others until all that `wanted` names has been seen. What is played is drawn from what the page says is
 * legal, but for a plan: plays that are made wherever they can be, in their order.
 */
async function playOut(table, rules, strength, plan, wanted) {
  const seen = new Set();
  for (let game = 0; game === 0 || wanted.some((what) => !seen.has(what)); game += 1) {
    assert.ok(game < 6, `in ${game} games there was only ${[...seen].join(", ")}`);
    await table.newGame({ rules, strength, color: game % 2 === 0 ? "w" : "b" });
    const left = [...plan];
    for (;;) {
      const { word, phase } = await table.turn();
      if (word === "over") break;
      const legal = await table.plays();
      while (left.length > 0 && phase === "regular" && !legal.includes(left[0])) left.shift();
      let play = phase === "regular" ? left.shift() : undefined;
      if (phase === "removal" && legal.length > 1) seen.add("removal choice");
      if ((phase === "earned" || phase === "owed") && legal.length > 1) {
        seen.add("extra move");
        play = legal.find((text) => text !== "+-");
      }
      // A removal without an alternative makes itself.
      if (phase === "removal" && legal.length === 1) {
        await table.page.waitForTimeout(20);
        continue;
      }
      play ??= legal[Math.floor(Math.random() * legal.length)];
      await table.make(play);
    }
    assert.match(await table.status(), /wins|unfinished/);
    assert.ok((await table.made()).length > 10);
  }
}

async function checkUndo(table) {
  await table.newGame({ rules: "standard", color: "w" });
  await table.turn();
  const start = await table.board();
  await table.make("e1-e2");
  await table.turn();
  const first = await table.board();
  await table.make("i4-h5");
  await table.turn();
  assert.equal((await table.state()).at, 4);
  await table.press("#undo");
  await table.page.locator("#play-area[data-at='2']").waitFor();
  assert.deepEqual(await table.board(), first);
  await table.press("#undo");
  await table.page.locator("#play-area[data-at='0']").waitFor();
  assert.deepEqual(await table.board(), start);
}

/** A hint is drawn, and the bar and the graph know who stands better. */
async function checkOpinions(table, page) {
  await table.press("#hint");
  await page.locator("#board .arrow.hint, #board .hint-ring").first().waitFor();
  assert.match(await table.status(), /Hint: /);
  await page.locator("#bar:not(.unknown)").waitFor();
  assert.match(await page.locator("#bar").getAttribute("aria-label"), /White \d+%/);
  await page.locator("#graph .now").waitFor();
}

/** Games of every kind, pasted and leafed through: the board is that of the game's last position. */
async function checkPaste(table, page) {
  for (const rules of ["ultimate", "standard_D4P4_punct_convert", "tournament_T4Z4D4"]) {
    const [game] = games(rules);
    await table.paste(JSON.stringify(game));
    await page.locator("dialog").waitFor({ state: "detached" });
    assert.deepEqual(await table.made(), game.plays);
    const board = game.final.split(" ")[0];
    assert.equal(boardText(await table.board()), board, rules);
    await table.press("#first");
    await page.locator("#play-area[data-at='0']").waitFor();
    await table.press("#last");
    await page.locator(`#play-area[data-at='${game.plays.length}']`).waitFor();
    assert.equal(boardText(await table.board()), board, rules);
  }
  await table.paste(readFileSync(join(vectors, "published/tournament-1.txt"), "utf8"));
  await page.locator("dialog").waitFor({ state: "detached" });
  assert.ok((await table.made()).length > 20);
  // What is copied is what can be pasted again.
  const before = await table.made();
  const board = await table.board();
  await table.press("#copy");
  await page.locator("#told:not(:empty), #copied").first().waitFor();
  const byHand = await page.locator("#copied").count() > 0;
  const text = byHand ? await page.locator("#copied").inputValue() : await page.evaluate(() => navigator.clipboard.readText());
  assert.match(text, /^# rules: tournament\n1\. G/);
  if (byHand) await page.keyboard.press("Escape");
  await table.newGame({ opponent: "people" });
  await table.paste(text);
  await page.locator("dialog").waitFor({ state: "detached" });
  assert.equal((await table.made()).length, before.length);
  assert.deepEqual(await table.board(), board);
}

async function checkBadPaste(table, page) {
  const before = await table.board();
  for (const [text, said] of [
    ["hello", "\"hello\" is not a play"], ["1. e1-e3 / e1-e9", "move 1, Black"], ["# rules: chess\ne1-e2", "chess"],
    ["{\"rules\":\"standard\",\"plays\":[\"e1-e2\",7]}", "no game line"], ["x".repeat(70_000), "bytes"],
    ["e1-e2;x-", "no removal is due"],
  ]) {
    await table.paste(text);
    await page.locator("dialog .fault:not(:empty)").waitFor();
    const fault = await page.locator("dialog .fault").textContent();
    assert.ok(fault.includes(said) && fault.length < 700, fault);
    await page.keyboard.press("Escape");
    await page.locator("dialog").waitFor({ state: "detached" });
    assert.deepEqual(await table.board(), before);
  }
}

/** BOARD of a position text from the stacks drawn. */
function boardText(stacks) {
  return [..."bcdefgh"].map((column, index) => {
    const spots = 7 - Math.abs(index - 3);
    let [text, empty] = ["", 0];
    for (let number = 2; number < 2 + spots; number += 1) {
      const stack = stacks[column + number];
      if (stack === undefined) { empty += 1; continue; }
      text += (empty > 0 ? empty : "") + (stack.length > 1 ? `(${stack})` : stack);
      empty = 0;
    }
    return text + (empty > 0 ? empty : "");
  }).join("/");
}

/** A game begun, two plays made, one taken back and one typed, without a mouse. */
async function checkKeys(table, page) {
  await page.locator("body").press("n");
  await page.locator("dialog").waitFor();
  // The form as it stands begins a game against the player.
  for (let tab = 0; !(await page.evaluate(() => document.activeElement?.matches("dialog .primary") ?? false)); tab += 1) {
    assert.ok(tab < 20, "Tab does not come to the dialog's button");
    await page.keyboard.press("Tab");
  }
  await page.keyboard.press("Enter");
  await page.locator("dialog").waitFor({ state: "detached" });
  await table.turn();
  await page.keyboard.press("Tab");
  let tabs = 0;
  while (!(await page.evaluate(() => document.activeElement?.matches("#board .point") ?? false))) {
    assert.ok((tabs += 1) < 40, "Tab does not come to the board");
    await page.keyboard.press("Tab");
  }
  const here = () => page.evaluate(() => document.activeElement.dataset.point);
  const goTo = async (target) => {
    const place = (name) => page.locator(`[data-point="${name}"]`).boundingBox();
    for (let step = 0; await here() !== target; step += 1) {
      assert.ok(step < 40, `the arrow keys do not come to ${target}`);
      const [from, to] = [await place(await here()), await place(target)];
      const [dx, dy] = [to.x - from.x, to.y - from.y];
      await page.keyboard.press(Math.abs(dx) > Math.abs(dy) ? (dx > 0 ? "ArrowRight" : "ArrowLeft") : dy > 0 ? "ArrowDown" : "ArrowUp");
    }
  };
  await goTo("d1");
  await page.keyboard.press("Enter");
  assert.match(await table.status(), /d1 has two lines/);
  await page.keyboard.press("Escape");
  assert.doesNotMatch(await table.status(), /d1 has two lines/);
  await page.keyboard.press("Enter");
  await goTo("d2");
  await page.keyboard.press("Enter");
  await page.locator("#play-area[data-at='2'][data-word=person]").waitFor();
  assert.equal((await table.made())[0], "d1-d2");
  const label = await page.locator("[data-point=d2]").getAttribute("aria-label");
  assert.match(label, /^d2: White's basic piece/);
  await page.locator("#typed").focus();
  await page.keyboard.type("g1-g2");
  await page.keyboard.press("Enter");
  await page.locator("#play-area[data-at='4'][data-word=person]").waitFor();
  await page.locator("#typed").focus();
  await page.keyboard.type("Ge1-e2");
  await page.keyboard.press("Enter");
  await page.locator("#status", { hasText: "GIPF-pieces are entered in tournament games only" }).waitFor();
  await page.locator("#undo").focus();
  await page.keyboard.press("u");
  await page.locator("#play-area[data-at='2']").waitFor();
}

/** A position set up, a faulty one refused, a challenge and its side game. */
async function checkSetUp(table, page) {
  await table.newGame({ opponent: "people", rules: "standard+D2;challenge=coin" });
  // Keys whose buttons are off do nothing to the game below, and a new game takes the set-up away.
  await table.place("e1-e2");
  await table.press("#set-up");
  await page.locator("body").press("u");
  await page.locator("#setup button", { hasText: "Cancel" }).click();
  await page.locator("#setup").waitFor({ state: "hidden" });
  await page.locator("#play-area[data-at='1']").waitFor();
  await table.press("#set-up");
  await table.newGame({ opponent: "people", rules: "standard+D2;challenge=coin" });
  await page.locator("#setup").waitFor({ state: "hidden" });
  await table.press("#set-up");
  await table.press("#setup [data-tool=G]");
  for (const spot of ["e5", "e6"]) await table.point(spot);
  await table.press("#setup button[type=submit]");
  await page.locator("#setup .fault:not(:empty)").waitFor();
  // Ten GIPF-pieces and twelve pieces in hand are more than White has.
  await page.locator("#setup input[type=number]").first().fill("8");
  await table.press("#setup [data-tool='']");
  await table.press("#setup [data-tool=S]");
  await table.point("e6");
  await table.press("#setup [data-tool=D]");
  await table.point("e6");
  await page.locator("#setup input[type=number]").nth(1).fill("1");
  await page.locator("#setup select").first().selectOption("b");
  await table.press("#setup [data-tool=S]");
  await table.point("e7");
  await page.locator("#setup input[type=number]").nth(2).fill("11");
  await table.press("#setup button[type=submit]");
  await page.locator("#setup").waitFor({ state: "hidden" });
  const board = await table.board();
  assert.deepEqual([board.e5, board.e6, board.e7], ["G", "SD", "s"]);
  await table.place("De6:e7");
  await page.locator("#play-area[data-phase=challenge]").waitFor();
  await table.press("#actions [data-play='?']");
  await page.locator("#play-area[data-phase=regular]").waitFor();
  const after = await table.board();
  const [won, lost] = [after.e7 === "sD" && after.e6 === "S", after.e7 === "s" && after.e6 === "S"];
  assert.ok(won || lost, JSON.stringify(after));
}

const only = process.env.GIPF_PAGE_TEST;
const tests = {
  async "a standard game against the player, with a choice in a removal"() {
    const corners = ["e1-e2", "a5-b5", "i5-h5", "e9-e8", "a1-b2", "i1-h2"];
    await at(urls.standard, DESK, async (table) => {
      await playOut(table, "standard", 1, corners.flatMap((play) => [play, play, play]), ["removal choice"]);
    });
  },
  async "a tournament game with potentials by taps, with an extra move and a choice in a removal"() {
    const line = ["Te1-e2", "Ze1-e2", "De1-e2", "e1-e2"];
    await at(urls.any, PHONE, async (table) => {
      await playOut(table, "tournament+T4Z4D4", 1, ["Ga1-b2", ...line, "Gi1-h2"], ["extra move", "removal choice"]);
    });
  },
  async "undo, hints and opinions"() {
    await at(urls.standard, DESK, async (table, page) => {
      await checkUndo(table);
      await checkOpinions(table, page);
    });
  },
  async "the page of a service, which answers it"() {
    await at(service, DESK, async (table, page) => {
      await checkUndo(table);
      await checkOpinions(table, page);
      await playOut(table, "standard", 2, [], []);
    });
  },
  async "games pasted and copied, bad ones refused"() {
    await at(urls.any, DESK, async (table, page) => {
      await checkPaste(table, page);
      await checkBadPaste(table, page);
    }, { permissions: ["clipboard-read", "clipboard-write"] });
  },
  async "the keyboard alone"() {
    await at(urls.standard, DESK, checkKeys);
  },
  async "a position set up, a challenge"() {
    await at(urls.any, DESK, checkSetUp);
  },
  async "rules that the player does not know are for two people"() {
    await at(urls.standard, PHONE, async (table, page) => {
      await table.press("#new");
      await page.selectOption("#game", "tournament");
      await table.press("dialog button.primary");
      await page.locator("dialog .fault:not(:empty)").waitFor();
      await page.selectOption("#opponent", "people");
      await table.press("dialog button.primary");
      await page.locator("dialog").waitFor({ state: "detached" });
      await table.make("Ge1-e2");
      assert.ok(await page.locator("#hint").isDisabled());
    });
  },
  async "sizes, schemes, and no serious fault that axe finds"() {
    const [game] = games("tournament_T4Z4D4");
    for (const viewport of [PHONE, DESK]) {
      for (const colorScheme of ["light", "dark"]) {
        const what = `${viewport.width} ${colorScheme}`;
        await at(urls.any, viewport, async (table, page) => {
          const look = async (name) => {
            await checkWidth(page);
            await checkAccess(page, `${what} ${name}`);
            if (pictures) await page.screenshot({ path: join(pictures, `page-${viewport.width}-${colorScheme}-${name}.png`), fullPage: true });
          };
          await table.paste(JSON.stringify({ ...game, plays: game.plays.slice(0, 40) }));
          await page.locator("dialog").waitFor({ state: "detached" });
          await page.locator("#bar:not(.unknown)").waitFor();
          await page.evaluate(() => { for (const details of document.querySelectorAll("details")) details.open = true; });
          await look("game");
          await table.press("#new");
          await page.selectOption("#game", "");
          await look("new");
          await page.keyboard.press("Escape");
          await table.press("#set-up");
          await look("setup");
        }, { colorScheme });
      }
    }
  },
};

try {
  for (const [name, test] of Object.entries(tests)) {
    if (only !== undefined && !name.includes(only)) continue;
    const began = performance.now();
    await test().catch((error) => {
      throw new Error(`${name}: ${error.message}`, { cause: error });
    });
    console.log(`ok ${name} (${((performance.now() - began) / 1000).toFixed(1)} s)`);
  }
} finally {
  await browser.close();
}
