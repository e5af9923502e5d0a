// Plays through the games of the page: the position, the value curve, the search's plays. The positions come replayed by the
// program; only the parts of their texts are taken apart here (rules, section 10).
"use strict";

(() => {
  const games = JSON.parse(document.getElementById("game-data").textContent);
  if (games.length === 0) return;

  const { draw, handText, show } = gipfBoard;
  const element = (name) => document.getElementById(name);
  const board = element("board");

  // ---- The side of the board: hands, value curve, search, plays

  function showHand(id, name, color, position, parts) {
    const [hands, mover] = [parts[1].split(","), parts[3]];
    const hand = hands[color].match(/^(\d+)(.*)$/);
    const captured = handText(position.captured[color], position.spent[color]);
    const part = (tag, text) => {
      const made = document.createElement(tag);
      made.textContent = text;
      return made;
    };
    const box = element(id);
    box.replaceChildren(part("strong", name), part("span", `in hand: ${handText(hand[1], hand[2])}`), part("span", `lost: ${captured}`));
    box.classList.toggle("turn", mover === "wb"[color] && !/^[WB]$/.test(parts[4]));
  }

  const PHASES = {
    t: "may make the extra move it is owed", m: "to play", x: "may make the extra move it has earned",
    "?": "has announced a move: challenge it or let it pass", "=": "the side game decides",
  };

  function statusText(parts) {
    const mover = parts[3] === "w" ? "White" : "Black";
    switch (parts[4]) {
      case "W": return "White has won.";
      case "B": return "Black has won.";
      case "rw": return "White removes a row.";
      case "rb": return "Black removes a row.";
      default: return `${mover} ${PHASES[parts[4]]}.`;
    }
  }

  const CURVE = { width: 400, height: 130, left: 34, right: 8, top: 12, bottom: 24 };
  const values = element("values");
  let nowLine;

  const curveX = (play) => {
    const room = CURVE.width - CURVE.left - CURVE.right;
    return CURVE.left + room * play / Math.max(1, game().plays.length);
  };

  const curveY = (value) => CURVE.top + (CURVE.height - CURVE.top - CURVE.bottom) * (1 - value) / 2;

  function drawCurve() {
    values.replaceChildren();
    values.setAttribute("viewBox", `0 0 ${CURVE.width} ${CURVE.height}`);
    for (const [value, name] of [[1, "won"], [0, "0"], [-1, "lost"]]) {
      const y = curveY(value);
      draw(values, "line", { x1: CURVE.left, y1: y, x2: CURVE.width - CURVE.right, y2: y, class: "zero" });
      draw(values, "text", { x: CURVE.left - 4, y: y + 4, "text-anchor": "end" }, name);
    }
    const last = game().plays.length;
    draw(values, "text", { x: CURVE.left, y: CURVE.height - 5 }, "start");
    draw(values, "text", { x: CURVE.width - CURVE.right, y: CURVE.height - 5, "text-anchor": "end" }, `${last} plays`);
    for (const kind of ["v", "q"]) {
      const path = game().plays.flatMap(({ search }, play) =>
        search ? [`${curveX(play).toFixed(1)},${curveY(search[kind]).toFixed(1)}`] : []);
      draw(values, "polyline", { points: path.join(" "), class: kind });
    }
    nowLine = draw(values, "line", { y1: CURVE.top, y2: CURVE.height - CURVE.bottom, class: "now" });
  }

  const signed = (value) => (value < 0 ? "−" : "+") + Math.abs(value).toFixed(2);
  const percent = (share) => `${(100 * share).toFixed(1)}%`;

  function showSearch(play) {
    const box = element("search");
    const line = document.createElement("p");
    if (!play || !play.search) {
      line.textContent = play ? "This play was not searched: forced, random or decided without a network." : "The game ends here.";
      box.replaceChildren(line);
      return;
    }
    const { search } = play;
    line.textContent = `${search.full ? "Full" : "Fast"} search, ${search.visits} visits: value ${signed(search.q)}, the network alone ${signed(search.v)}.`;
    const bars = search.top.map(([text, share]) => {
      const bar = document.createElement("div");
      bar.className = text === play.text ? "bar played" : "bar";
      const [name, meter, number] = ["code", "meter", "span"].map((tag) => document.createElement(tag));
      name.textContent = text;
      meter.value = share;
      meter.setAttribute("aria-label", `share of ${text}`);
      number.textContent = percent(share);
      bar.append(name, meter, number);
      return bar;
    });
    const played = document.createElement("p");
    const known = search.top.some(([text]) => text === play.text);
    played.textContent = known ? `Played: ${play.text}.` : `Played: ${play.text}, in this list under another name or further down.`;
    box.replaceChildren(line, ...bars, played);
  }

  const NAMES = { w: "White", b: "Black", "-": "Chance" };

  function listPlays() {
    const start = document.createElement("li");
    const items = [start, ...game().plays.map(() => document.createElement("li"))];
    items.forEach((item, index) => {
      const button = document.createElement("button");
      button.type = "button";
      const play = game().plays[index - 1];
      const official = play && play.official && play.official !== play.text ? `  (${play.official})` : "";
      button.textContent = play ? `${index}. ${NAMES[play.by]} ${play.text}${official}` : "Start";
      button.addEventListener("click", () => go(index));
      item.append(button);
    });
    element("plays").replaceChildren(...items);
  }

  /** Scrolls the list, and only it, until the item is seen. */
  function reveal(list, item) {
    if (item.offsetTop < list.scrollTop) {
      list.scrollTop = item.offsetTop;
    } else if (item.offsetTop + item.offsetHeight > list.scrollTop + list.clientHeight) {
      list.scrollTop = item.offsetTop + item.offsetHeight - list.clientHeight;
    }
  }

  // ---- Going through a game

  let chosen = 0; // which game
  let at = 0; // plays made
  let timer = null;
  const game = () => games[chosen];

  function go(index) {
    at = Math.min(Math.max(index, 0), game().plays.length);
    const position = game().positions[at];
    const parts = position.text.split(" ");
    const [last, next] = [game().plays[at - 1], game().plays[at]];
    show(parts[0], last, next && next.search);
    showHand("white", "White", 0, position, parts);
    showHand("black", "Black", 1, position, parts);
    const made = last ? `Play ${at} of ${game().plays.length}: ${NAMES[last.by]} ${last.text}. ` : "Start of the game. ";
    element("status").textContent = made + statusText(parts);
    element("board-title").textContent = `Board. ${made}${statusText(parts)} ${position.text}`;
    element("text").textContent = position.text;
    element("at").value = at;
    nowLine.setAttribute("x1", curveX(at));
    nowLine.setAttribute("x2", curveX(at));
    showSearch(next);
    const list = element("plays");
    list.querySelector("[aria-current]")?.removeAttribute("aria-current");
    const item = list.children[at];
    item.firstChild.setAttribute("aria-current", "true");
    reveal(list, item);
    element("viewer").dataset.at = at;
    if (at === game().plays.length) stop();
  }

  function choose(index) {
    stop();
    chosen = index;
    element("about").textContent = `${game().rules}; ${game().about}`;
    element("at").max = game().plays.length;
    drawCurve();
    listPlays();
    go(0);
  }

  function stop() {
    clearInterval(timer);
    timer = null;
    element("auto").setAttribute("aria-pressed", "false");
  }

  function toggle() {
    if (timer !== null) {
      stop();
      return;
    }
    if (at === game().plays.length) go(0);
    timer = setInterval(() => go(at + 1), 900);
    element("auto").setAttribute("aria-pressed", "true");
  }

  const STEPS = {
    first: () => go(0), back: () => go(at - 1), forward: () => go(at + 1), last: () => go(game().plays.length), auto: toggle,
  };
  const KEYS = { Home: "first", ArrowLeft: "back", ArrowRight: "forward", End: "last", " ": "auto" };

  games.forEach(({ title }, index) => element("game").append(new Option(title, index)));
  element("game").addEventListener("change", (event) => choose(Number(event.target.value)));
  for (const [id, step] of Object.entries(STEPS)) element(id).addEventListener("click", step);
  element("at").addEventListener("input", (event) => go(Number(event.target.value)));
  values.addEventListener("click", (event) => {
    const box = values.getBoundingClientRect();
    const x = (event.clientX - box.left) * CURVE.width / box.width;
    go(Math.round((x - CURVE.left) / (curveX(1) - CURVE.left)));
  });
  document.addEventListener("keydown", (event) => {
    // Keys that mean something where the focus is stay there: lists, sliders, links, and space on a button.
    const { target } = event;
    if (event.ctrlKey || event.altKey || event.metaKey || event.shiftKey || !(event.key in KEYS)) return;
    if (target.closest("select, input, textarea, summary, a, .scroll")) return;
    if (event.key === " " && target.closest("button")) return;
    // With the viewer neither focused nor in sight, Home, End and space scroll the page.
    const viewer = element("viewer");
    const view = viewer.getBoundingClientRect();
    if (!viewer.contains(target) && (view.bottom < 0 || view.top > window.innerHeight)) return;
    event.preventDefault();
    STEPS[KEYS[event.key]]();
  });
  let swipe = null;
  board.addEventListener("pointerdown", (event) => { swipe = event.clientX; });
  board.addEventListener("pointerup", (event) => {
    if (swipe === null) return;
    const way = event.clientX - swipe;
    swipe = null;
    if (Math.abs(way) > 30) go(at + (way < 0 ? 1 : -1));
  });
  board.addEventListener("pointercancel", () => { swipe = null; });
  element("viewer").hidden = false;
  choose(0);
})();
