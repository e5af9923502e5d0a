// The board of the page: where its points are, what a position's text says (rules, section 10), pieces and marks.
"use strict";

const gipfBoard = (() => {
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

  /** A new SVG element in `parent`. */
  function draw(parent, tag, attributes, text) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    if (text !== undefined) made.textContent = text;
    parent.append(made);
    return made;
  }

  const board = document.getElementById("board");
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

  /** Draws a position's BOARD, the play that led to it and the plays that the search thinks of, each where there is one. */
  function show(text, last, search) {
    for (const layer of [marksBelow, pieces, marksAbove]) layer.replaceChildren();
    for (const [spot, stack] of readBoard(text)) drawStack(spot, stack);
    if (last) drawLast(last);
    if (search) drawHints(search);
  }

  drawGround();
  return { draw, handText, show };
})();
