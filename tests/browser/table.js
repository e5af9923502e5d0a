// The page of a player as somebody at it sees and uses it: presses on points, buttons, keys. Nothing here reaches into its program.
import assert from "node:assert/strict";

export class Table {
  /** `press(locator)` is a click of the mouse or a tap of a finger. */
  constructor(page, { touch = false } = {}) {
    this.page = page;
    this.touch = touch;
  }

  async open(url) {
    await this.page.goto(url);
    await this.page.locator("html[data-ready]").waitFor();
  }

  press(selector) {
    const found = this.page.locator(selector);
    return this.touch ? found.tap() : found.click();
  }

  point(name) {
    return this.press(`[data-point="${name}"]`);
  }

  /** `person`, `other` (the player or chance) or `over`, the phase of the rules, the number of plays. */
  async state() {
    const { word, phase, at } = await this.page.locator("#play-area").evaluate((area) => ({ ...area.dataset }));
    return { word, phase, at: Number(at) };
  }

  /** Waits until somebody at the page has the word or the game is over. */
  async turn() {
    await this.page.locator("#play-area:not([data-word=other])").waitFor({ timeout: 60_000 }).catch(async () => {
      throw new Error(`nobody goes on: ${JSON.stringify(await this.state())}, "${await this.status()}", after ${(await this.made()).join(";")}`);
    });
    return this.state();
  }

  status() {
    return this.page.locator("#status").textContent();
  }

  /** Every legal play's text: what may be typed. */
  plays() {
    return this.page.locator("#plays option").evaluateAll((options) => options.map((option) => option.value));
  }

  /** The game's plays. */
  made() {
    return this.page.locator("#moves button").evaluateAll((buttons) => buttons.map((button) => button.title));
  }

  /** What stands on the board. */
  board() {
    return this.page.evaluate(() => Object.fromEntries(
      [...document.querySelectorAll("#board [data-at]")].map(({ dataset }) => [dataset.at, dataset.stack])));
  }

  async newGame({ opponent = "player", strength = 3, color = "w", rules = "standard" }) {
    await this.press("#new");
    await this.page.selectOption("#opponent", opponent);
    if (opponent === "player") {
      await this.page.locator("#strength").fill(String(strength));
      await this.page.selectOption("#color", color);
    }
    const offered = await this.page.locator("#game option").evaluateAll((options) => options.map((option) => option.value));
    await this.page.selectOption("#game", offered.includes(rules) ? rules : "");
    if (!offered.includes(rules)) await this.page.fill("#rules", rules);
    await this.press("dialog button.primary");
    await this.page.locator("dialog").waitFor({ state: "detached" });
  }

  async paste(text) {
    await this.press("#paste");
    await this.page.fill("#pasted", text);
    await this.press("dialog button.primary");
  }

  /** Makes a play by presses alone. */
  async make(play) {
    const before = (await this.state()).at;
    if (play === "+-") await this.press("#skip");
    else if (play === "x-" || play === "?" || play === ".") await this.press(`#actions button[data-play="${play}"]`);
    else if (play.startsWith("x")) await this.remove(play.slice(1).split(","));
    else await this.place(play);
    await this.page.waitForFunction((at) => Number(document.querySelector("#play-area").dataset.at) > at, before);
    assert.equal((await this.made())[before], play);
  }

  async place(play) {
    const [, kind, from, sign, to] = play.match(/^([+A-Z]?)([a-i]\d)([-:])([a-i]\d)$/);
    const kinds = this.page.locator(".kinds button[data-kind]");
    if (sign === "-" && kind !== "+" && await kinds.count() > 0) await this.press(`.kinds button[data-kind="${kind || "S"}"]`);
    const before = (await this.state()).at;
    await this.point(from);
    if ((await this.state()).at !== before || await this.page.locator("#board .chosen").count() === 0) return;
    // A dot of one line is pressed again by a finger; else the target is.
    const chosen = await this.page.locator(`[data-point="${to}"].target:not(.quiet)`).count() > 0;
    await this.point(chosen ? to : from);
  }

  /** Chooses the row, takes and keeps pieces until these are crossed, then removes them. */
  async remove(spots) {
    const marked = (name) => this.page.locator(`#board [data-${name}]`).evaluateAll((marks, key) => marks.map(({ dataset }) => dataset[key]), name);
    // Where there are several rows, a piece that another one has not selects the right one.
    for (const spot of spots) {
      const [taken, optional] = [await marked("taken"), await marked("optional")];
      if (!taken.includes(spot) && !optional.includes(spot)) await this.point(spot);
    }
    const taken = await marked("taken");
    for (const spot of await marked("optional")) {
      if (taken.includes(spot) !== spots.includes(spot)) await this.point(spot);
    }
    assert.deepEqual((await marked("taken")).sort(), [...spots].sort());
    await this.press("#remove");
  }
}
