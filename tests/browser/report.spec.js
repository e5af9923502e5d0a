// Opens a report from the disk in a headless browser, plays through its games and compares what is drawn with what must be.
//
//   node report.spec.js REPORT.html EXPECTED.json [FOLDER]
//
// EXPECTED.json, made by the program's rules from the plays alone: [{ plays: [...], boards: [{ "e5": "sT", ... }, ...] }, ...],
// the stack on each occupied spot, letters from bottom to top, before each play and at the end. FOLDER gets pictures.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { launch, watch } from "./browser.js";

const SIZES = [{ width: 360, height: 740 }, { width: 1280, height: 900 }];

const [report, expectedFile, pictures] = process.argv.slice(2);
const url = pathToFileURL(resolve(report)).href;
const expected = JSON.parse(readFileSync(expectedFile, "utf8"));

/** What is drawn: stacks, and the items of each with their colours and kinds. */
const drawn = (page) => page.evaluate(() => {
  const board = {};
  for (const stack of document.querySelectorAll("#board [data-at]")) {
    const items = [...stack.querySelectorAll(".item")].map((item) => {
      const letter = item.dataset.kind;
      const circles = item.querySelectorAll("circle").length;
      const text = item.querySelector("text")?.textContent ?? "";
      // A GIPF-piece has a second ring, a potential its letter, a basic piece neither.
      const kind = circles === 2 ? "G" : text === "" ? "S" : text;
      if (kind !== letter) throw new Error(`a ${letter} is drawn as a ${kind}`);
      return item.classList.contains("w") ? kind : kind.toLowerCase();
    });
    board[stack.dataset.at] = items.join("");
  }
  return board;
});

/** The middle of what stands on a spot against the spot's own place. */
const misplaced = (page) => page.evaluate(() => [...document.querySelectorAll("#board [data-at]")].filter((stack) => {
  const spot = document.querySelector(`#board [data-spot="${stack.dataset.at}"]`);
  const base = stack.querySelector("circle");
  return base.getAttribute("cx") !== spot.getAttribute("cx") || base.getAttribute("cy") !== spot.getAttribute("cy");
}).length);

const at = async (page) => Number(await page.locator("#viewer").getAttribute("data-at"));

async function check(page, game, play) {
  assert.equal(await at(page), play, "the play shown");
  assert.deepEqual(await drawn(page), expected[game].boards[play], `game ${game + 1} after ${play} plays`);
  assert.equal(await misplaced(page), 0);
  assert.equal(await page.locator("#plays [aria-current=true]").count(), 1);
  const last = expected[game].plays[play - 1];
  const status = await page.locator("#status").textContent();
  assert.ok(status.startsWith(last === undefined ? "Start" : `Play ${play} of ${expected[game].plays.length}`), status);
  const taken = last !== undefined && /^x[a-i]/.test(last) ? last.slice(1).split(",") : [];
  const crossed = await page.locator("#board [data-taken]").evaluateAll((marks) => marks.map((mark) => mark.dataset.taken));
  assert.deepEqual(crossed, taken, "the pieces removed are marked");
  assert.equal(await page.locator("#board .row").count() > 0, taken.length > 0, "the row is marked");
}

/** The board as such: 37 spots, 24 dots with their names, 21 lines. */
async function checkGround(page) {
  assert.equal(await page.locator("#board .spot").count(), 37);
  assert.equal(await page.locator("#board .dot").count(), 24);
  assert.equal(await page.locator("#board > line").count(), 21);
  const names = await page.locator("#board .name").allTextContents();
  assert.equal(new Set(names).size, 24);
  assert.ok(names.includes("e1") && names.includes("i5") && !names.includes("e5"));
}

/** Every position of a game by one way of stepping: the button on and back, keys, the list. */
async function checkGame(page, game) {
  const last = expected[game].plays.length;
  await page.selectOption("#game", String(game));
  await check(page, game, 0);
  for (let play = 1; play <= last; play += 1) {
    await page.click("#forward");
    await check(page, game, play);
  }
  await page.click("#forward");
  assert.equal(await at(page), last, "the end is the end");
  await page.click("#back");
  await check(page, game, last - 1);
  await page.click("#first");
  await check(page, game, 0);
  await page.click("#last");
  await check(page, game, last);
}

async function checkKeys(page) {
  const last = expected[0].plays.length;
  await page.selectOption("#game", "0");
  await page.locator("#forward").focus();
  for (const [key, play] of [["End", last], ["ArrowLeft", last - 1], ["Home", 0], ["ArrowLeft", 0], ["ArrowRight", 1], ["ArrowRight", 2]]) {
    await page.keyboard.press(key);
    await check(page, 0, play);
  }
}

/** A click on the curve goes to the play under it; the list and the slider go to theirs. */
async function checkJumps(page) {
  const last = expected[0].plays.length;
  await page.locator("#values").scrollIntoViewIfNeeded();
  const box = await page.locator("#values").boundingBox();
  for (const share of [0.25, 0.5, 1]) {
    const play = Math.round(share * last);
    const x = await page.evaluate((part) => {
      const line = document.querySelector("#values .zero");
      const [from, to] = [Number(line.getAttribute("x1")), Number(line.getAttribute("x2"))];
      return (from + part * (to - from)) / document.querySelector("#values").viewBox.baseVal.width;
    }, play / last);
    await page.mouse.click(box.x + x * box.width, box.y + box.height / 3);
    await check(page, 0, play);
  }
  await page.locator("#plays li button").nth(3).click();
  await check(page, 0, 3);
  await page.locator("#at").fill("5");
  await check(page, 0, 5);
}

async function checkSwipe(page) {
  await page.locator("#board").scrollIntoViewIfNeeded();
  await page.click("#first");
  const box = await page.locator("#board").boundingBox();
  const swipe = async (from, to) => {
    await page.mouse.move(box.x + from * box.width, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(box.x + to * box.width, box.y + box.height / 2);
    await page.mouse.up();
  };
  await swipe(0.7, 0.3);
  await check(page, 0, 1);
  await swipe(0.3, 0.7);
  await check(page, 0, 0);
}

async function checkAutoplay(page) {
  await page.click("#first");
  await page.click("#auto");
  assert.equal(await page.locator("#auto").getAttribute("aria-pressed"), "true");
  await page.waitForFunction(() => Number(document.querySelector("#viewer").dataset.at) >= 2);
  await page.click("#auto");
  const stopped = await at(page);
  await page.waitForTimeout(1200);
  assert.equal(await at(page), stopped, "autoplay stops");
}

/** The search's plays stand as bars that add up to at most one, and as marks on the board. */
async function checkSearch(page) {
  const data = JSON.parse(await page.locator("#game-data").textContent());
  let seen = 0;
  for (const [play, { search }] of data[0].plays.entries()) {
    if (search === undefined || seen > 5) continue;
    seen += 1;
    await page.locator("#at").fill(String(play));
    const bars = await page.locator("#search meter").evaluateAll((meters) => meters.map((meter) => meter.value));
    assert.equal(bars.length, search.top.length);
    assert.ok(bars.reduce((sum, share) => sum + share, 0) <= 1.0001);
    const hints = await page.locator("#board [data-hint]").evaluateAll((marks) => marks.map((mark) => mark.dataset.hint));
    assert.deepEqual(new Set(hints), new Set(search.top.map(([text]) => text).filter((text) => /[a-i]\d/.test(text))));
  }
  assert.ok(seen > 0, "a game with searches comes first");
}

/** WCAG's contrast of two colours, `rgb(…)` as the browser computes them. */
function contrast(one, other) {
  const light = (color) => {
    const parts = color.match(/[\d.]+/g).slice(0, 3).map((part) => {
      const value = Number(part) / 255;
      return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  };
  const [low, high] = [light(one), light(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

/** Text has a contrast of 4.5 to 1, the lines of charts one of 3 to 1. */
async function checkContrast(page, what) {
  const found = await page.evaluate(() => {
    const ground = (element) => {
      for (let at = element; at; at = at.parentElement) {
        const color = getComputedStyle(at).backgroundColor;
        if (!/, 0\)$/.test(color)) return color;
      }
      return "rgb(255, 255, 255)";
    };
    const pairs = [];
    for (const element of document.querySelectorAll("p, dt, dd, h1, h2, figcaption, summary, td, th, .legend li, #plays button, .hand span")) {
      pairs.push([element.tagName, getComputedStyle(element).color, ground(element), 4.5]);
    }
    for (const element of document.querySelectorAll(".chart text")) {
      pairs.push(["chart text", getComputedStyle(element).fill, ground(element.closest("figure")), 4.5]);
    }
    for (const element of document.querySelectorAll("[class^=s-line]")) {
      pairs.push(["chart line", getComputedStyle(element).stroke, ground(element.closest("figure")), 3]);
    }
    return pairs;
  });
  assert.ok(found.length > 50);
  for (const [name, color, ground, least] of found) {
    assert.ok(contrast(color, ground) >= least, `${what}: ${name} ${color} on ${ground}`);
  }
}

const browser = await launch();
try {
  for (const viewport of SIZES) {
    for (const colorScheme of ["light", "dark"]) {
      const what = `${viewport.width}x${viewport.height}, ${colorScheme}`;
      const context = await browser.newContext({ viewport, colorScheme, hasTouch: viewport.width < 500 });
      const page = await context.newPage();
      const faults = watch(page, (asked) => asked === url);
      await page.goto(url);
      const { content, width } = await page.evaluate(() => {
        for (const details of document.querySelectorAll("details")) details.open = true;
        const { scrollWidth, clientWidth } = document.documentElement;
        return { content: scrollWidth, width: clientWidth };
      });
      assert.ok(content <= width, `${what}: ${content} wide in ${width}`);
      assert.ok(await page.locator("figure svg.chart").count() > 5, "charts");
      await checkContrast(page, what);
      await page.evaluate(() => document.querySelectorAll("details").forEach((details) => { details.open = false; }));
      assert.equal(await page.locator("#game option").count(), expected.length);
      await checkGround(page);
      if (colorScheme === "light") {
        // Every position once; the other runs look at the first game.
        const games = viewport.width > 500 ? expected.keys() : [0];
        for (const game of games) await checkGame(page, game);
      }
      await checkKeys(page);
      await checkJumps(page);
      await checkSwipe(page);
      await checkSearch(page);
      if (colorScheme === "dark") await checkAutoplay(page);
      if (pictures) {
        await page.locator("#at").fill(String(Math.floor(expected[0].plays.length / 2)));
        await page.evaluate(() => window.scrollTo(0, 0));
        await page.screenshot({ path: `${pictures}/report-${viewport.width}-${colorScheme}.png`, fullPage: true });
      }
      assert.deepEqual(faults, [], what);
      await context.close();
    }
  }
} finally {
  await browser.close();
}
console.log(`ok: ${expected.length} games, ${expected.reduce((sum, { boards }) => sum + boards.length, 0)} positions`);
