// Plays through the games of the page: draws the position, the value curve and the search's plays.
// The positions come replayed by the program; here only the BOARD and HANDS of their texts are read (rules, section 10).
"use strict";

(() => {
  const games = JSON.parse(document.getElementById("game-data").textContent);
  if (games.length === 0) return;

  // ---- The board's geometry

  const COLUMNS = "abcdefghi";
  const UNIT = 50; // between neighbouring points
  const WIDTH = 8 * UNIT * Math.sqrt(3) / 2;
  const MARGIN = 34;
  const PIECE = 20;

  const pointsOf = (column) => 9 - Math.abs(column - 4);

  /** Where a point, such as "e5", lies in the drawing: White below, columns from left to right. */
  function place(name) {
    const column = COLUMNS.indexOf(name[0]);
    const middle = (pointsOf(column) + 1) / 2;
    return {
      x: MARGIN + column * UNIT * Math.sqrt(3) / 2,
      y: MARGIN + 4 * UNIT - (Number(name.slice(1)) - middle) * UNIT,
    };
  }

  const points = [...COLUMNS].flatMap((letter, column) =>
    Array.from({ length: pointsOf(column) }, (_, index) => letter + (index + 1)));

  const isDot = (name) => {
    const column = COLUMNS.indexOf(name[0]);
    const number = Number(name.slice(1));
    return column === 0 || column === 8 || number === 1 || number === pointsOf(column);
  };

  /** The ends of the 21 lines, dots, found as the farthest points along each direction. */
  function lines() {
    const at = new Map(points.map((name) => [key(place(name)), name]));
    const found = [];
    for (const angle of [90, 30, -30]) {
      const step = { x: UNIT * Math.cos(angle * Math.PI / 180), y: -UNIT * Math.sin(angle * Math.PI / 180) };
      for (const name of points) {
        const start = place(name);
        const before = at.get(key({ x: start.x - step.x, y: start.y - step.y }));
        if (before !== undefined) continue;
        let end = name;
        let length = 0;
        for (;;) {
          const here = place(end);
          const next = at.get(key({ x: here.x + step.x, y: here.y + step.y }));
          if (next === undefined) break;
          end = next;
          length += 1;
        }
        // The rim itself, dots only, is no line.
        if (length > 4) found.push([name, end]);
      }
    }
    return found;
  }

  const key = ({ x, y }) => `${Math.round(x)},${Math.round(y)}`;

  // ---- Position texts

  /** BOARD as a map from spot to stack, letters from bottom to top. */
  function readBoard(board) {
    const stacks = new Map();
    board.split("/").forEach((text, column) => {
      let number = 2;
      for (const [item] of text.matchAll(/\(([^)]*)\)|\d|[A-Za-z]/g)) {
        if (/\d/.test(item)) {
          number += Number(item);
        } else {
          stacks.set("bcdefgh"[column] + number, item.replace(/[()]/g, ""));
          number += 1;
        }
      }
    });
    return stacks;
  }

  const KINDS = { T: "TAMSK", Z: "ZÈRTZ", D: "DVONN", Y: "YINSH", P: "PÜNCT" };

  /** "4T2Z1" as "4 basic, 2 TAMSK, 1 ZÈRTZ". */
  function handText(basic, potentials) {
    const parts = [`${basic} basic`];
    for (const [, kind, count] of potentials.matchAll(/([TZDYP])(\d+)/g)) parts.push(`${count} ${KINDS[kind]}`);
    return parts.join(", ");
  }

  // ---- Drawing

  const element = (name) => document.getElementById(name);

  /** A new SVG element in `parent`. */
  function draw(parent, tag, attributes, text) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    if (text !== undefined) made.textContent = text;
    parent.append(made);
    return made;
  }

  const board = element("board");
  let marksBelow; // rows, under the pieces
  let pieces;
  let marksAbove; // arrows and rings, over them

  function drawGround() {
    board.setAttribute("viewBox", `0 0 ${(WIDTH + 2 * MARGIN).toFixed(1)} ${8 * UNIT + 2 * MARGIN}`);
    const defs = draw(board, "defs", {});
    for (const kind of ["mark", "hint"]) {
      const marker = draw(defs, "marker", {
        id: `arrow-${kind}`, viewBox: "0 0 10 10", refX: 7, refY: 5, markerWidth: 14, markerHeight: 14,
        markerUnits: "userSpaceOnUse", orient: "auto",
      });
      draw(marker, "path", { d: "M0 0 L10 5 L0 10 z", class: `arrow-${kind}` });
    }
    const corners = ["a1", "a5", "e9", "i5", "i1", "e1"].map(place);
    const middle = place("e5");
    const out = corners.map(({ x, y }) => `${middle.x + 1.13 * (x - middle.x)},${middle.y + 1.13 * (y - middle.y)}`);
    draw(board, "polygon", { points: out.join(" "), class: "ground" });
    for (const [from, to] of lines()) {
      const [a, b] = [place(from), place(to)];
      draw(board, "line", { x1: a.x, y1: a.y, x2: b.x, y2: b.y, class: "line" });
    }
    for (const name of points) {
      const { x, y } = place(name);
      if (isDot(name)) {
        draw(board, "circle", { cx: x, cy: y, r: 4, class: "dot", "data-dot": name });
        const far = 1 + 17 / Math.hypot(x - middle.x, y - middle.y);
        draw(board, "text", { x: middle.x + far * (x - middle.x), y: middle.y + far * (y - middle.y), class: "name" }, name);
      } else {
        draw(board, "circle", { cx: x, cy: y, r: 5, class: "spot", "data-spot": name });
      }
    }
    marksBelow = draw(board, "g", {});
    pieces = draw(board, "g", {});
    marksAbove = draw(board, "g", {});
  }

  /** One stack, its items from bottom to top, each a little above the one below. */
  function drawStack(spot, stack) {
    const { x, y } = place(spot);
    const group = draw(pieces, "g", { "data-stack": stack, "data-at": spot, class: "stack" });
    draw(group, "title", {}, `${spot}: ${stack}`);
    // High stacks are drawn closer together.
    const lift = Math.min(5, 16 / stack.length);
    [...stack].forEach((letter, level) => {
      const kind = letter.toUpperCase();
      const item = draw(group, "g", { class: `item ${letter === kind ? "w" : "b"}`, "data-kind": kind });
      const cy = y - level * lift;
      const potential = kind in KINDS;
      draw(item, "circle", { cx: x, cy, r: potential ? 13 : PIECE });
      if (kind === "G") draw(item, "circle", { cx: x, cy, r: 12, class: "ring" });
      if (potential) draw(item, "text", { x, y: cy }, kind);
    });
    if (stack.length > 2) draw(group, "text", { x: x + PIECE + 3, y: y + PIECE - 4, class: "count" }, stack.length);
  }

  /** What a play's text names: from where to where, or the spots it takes. */
  function read(text) {
    const move = text.match(/^[+A-Z]?([a-i]\d)[-:]([a-i]\d)$/);
    if (move) return { from: move[1], to: move[2], spots: [] };
    if (/^x[a-i]/.test(text)) return { spots: text.slice(1).split(",") };
    return { spots: [] };
  }

  function drawArrow(parent, from, to, attributes) {
    const [a, b] = [place(from), place(to)];
    draw(parent, "line", { x1: a.x, y1: a.y, x2: b.x, y2: b.y, ...attributes });
  }

  function drawLast(play) {
    const { from, to, spots } = read(play.text);
    for (const [a, b] of play.rows) drawArrow(marksBelow, a, b, { class: "row" });
    for (const spot of spots) {
      const { x, y } = place(spot);
      draw(marksAbove, "path", { d: `M${x - 9} ${y - 9}L${x + 9} ${y + 9}M${x - 9} ${y + 9}L${x + 9} ${y - 9}`, class: "taken", "data-taken": spot });
    }
    if (from) {
      drawArrow(marksAbove, from, to, { class: "came" });
      for (const spot of play.changed) {
        const { x, y } = place(spot);
        draw(marksAbove, "circle", { cx: x, cy: y, r: PIECE + 2.5, class: "changed", "data-changed": spot });
      }
    }
  }

  function drawHints(search) {
    for (const [text, share] of search.top) {
      const { from, to, spots } = read(text);
      const opacity = (0.4 + 0.6 * share).toFixed(2);
      if (from) drawArrow(marksAbove, from, to, { class: "hint", opacity, "data-hint": text });
      for (const spot of spots) {
        const { x, y } = place(spot);
        draw(marksAbove, "circle", { cx: x, cy: y, r: PIECE + 2.5, class: "hint ring", opacity, "data-hint": text });
      }
    }
  }

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
    for (const layer of [marksBelow, pieces, marksAbove]) layer.replaceChildren();
    for (const [spot, stack] of readBoard(parts[0])) drawStack(spot, stack);
    if (last) drawLast(last);
    if (next && next.search) drawHints(next.search);
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

  drawGround();
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
    const view = element("viewer").getBoundingClientRect();
    // Elsewhere on the page, Home, End and space scroll it.
    if (view.bottom < 0 || view.top > window.innerHeight) return;
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
