/**
 * Every text of the page in English: a translation is another file of this shape. What the rules' own program says of a
 * faulty text or an illegal play comes in English from there, behind `fault`.
 */
import type { End, Side } from "./messages";

const SIDE: Record<Side, string> = { w: "White", b: "Black" };

const KIND: Record<string, string> = {
  S: "basic piece", G: "GIPF-piece", T: "TAMSK", Z: "ZÈRTZ", D: "DVONN", Y: "YINSH", P: "PÜNCT",
};

const list = (items: string[], word = "and"): string =>
  items.length < 2 ? items.join("") : `${items.slice(0, -1).join(", ")} ${word} ${items.at(-1)}`;

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

const percent = (share: number): string => `${Math.round(100 * share)}%`;

export const texts = {
  language: "en",
  title: "GIPF",
  skip: "To the board",

  // The head
  newGame: "New game",
  copy: "Copy",
  paste: "Paste",
  setUp: "Set up",
  turn: "Turn the board",
  copied: "The game has been copied as text.",
  copyByHand: "Copy the text below by hand: the browser does not let the page do it.",

  // Names
  side: (side: Side) => SIDE[side],
  kind: (kind: string) => KIND[kind] ?? kind,
  you: "you",
  player: (strength: number) => `the player, strength ${strength}`,
  person: "a person",
  playerName: (name: string) => `Against ${name}.`,

  // The board
  board: "Board",
  boardHelp: "Arrow keys go from point to point, Enter chooses, Escape takes a choice back.",
  empty: (point: string) => `${point}, empty`,
  dot: (point: string) => `${point}, dot`,
  stack: (point: string, words: string) => `${point}: ${words}`,
  basic: (side: Side) => `${SIDE[side]}'s basic piece`,
  gipf: (side: Side) => `${SIDE[side]}'s GIPF-piece`,
  loaded: (side: Side, kind: string) => `${SIDE[side]}'s basic piece loaded with ${KIND[kind]}`,
  used: (side: Side, kind: string) => `${SIDE[side]}'s used ${KIND[kind]}-potential`,
  covers: (above: string, below: string) => `${above} on ${below}`,
  canEnter: "a piece can enter here",
  canMove: "its potential can move",
  canGo: "can go here",
  canEnterOn: "enter on this spot",
  taking: "will be taken; press to keep it",
  keeping: "stays; press to take it",

  // What is to be done
  status: {
    enter: (side: Side) => `${side === "w" ? "White" : "Black"} to play: choose a piece, then a dot.`,
    enterOnly: (side: Side) => `${SIDE[side]} to play: choose a dot.`,
    first: (side: Side) => `${SIDE[side]}'s first piece must be a GIPF-piece: choose a dot.`,
    moveToo: " A loaded piece marked by a ring can use its potential instead.",
    moveOnly: (side: Side) => `${SIDE[side]} has nothing to enter: move a potential.`,
    line: (dot: string) => `${dot} has two lines: choose the first spot of one.`,
    confirm: (dot: string) => `Touch ${dot} again to enter there.`,
    target: (from: string) => `Choose where the potential on ${from} goes.`,
    extra: (side: Side) => `${SIDE[side]}'s TAMSK-stack came to e5: its potential may enter once more, alone. Choose a dot, or skip.`,
    removal: (side: Side) => `${SIDE[side]} has a row: what is crossed goes. Touch the ringed pieces to take or keep them, then remove.`,
    removalForced: (side: Side) => `${SIDE[side]} has a row: what is crossed goes.`,
    removalRows: " There is more than one row: touch a piece of the one to deal with first.",
    gipfRow: (side: Side) => `${SIDE[side]}'s row of GIPF-pieces may stay: touch the pieces to take, or leave it standing.`,
    notAllowed: "So a row would stay: take at least one more piece.",
    challenge: (side: Side, play: string) => `${SIDE[side]} announces ${play}. Challenge it to a side game?`,
    sideGame: (side: Side, play: string) => `${SIDE[side]}'s ${play} was challenged: the side game decides.`,
    outcome: (side: Side) => `How did the side game end for ${SIDE[side]}?`,
    thinking: (side: Side) => `${SIDE[side]} is thinking.`,
    looking: (ply: number, of: number) => `After play ${ply} of ${of}.`,
    failed: (reason: string) => `The player cannot go on: ${reason}`,
  },
  end: ({ winner, reason }: End): string => {
    if (winner === undefined) return "The game has reached its limit of plays and is unfinished.";
    const loser = SIDE[winner === "w" ? "b" : "w"];
    return `${SIDE[winner]} wins: ${loser} ${reason === "gipf" ? "has no GIPF-piece left" : "has to play and cannot"}.`;
  },
  played: (side: Side, official: string) => `${SIDE[side]}: ${official}.`,
  declined: "leaves its row standing",

  // Buttons of a decision
  remove: "Remove",
  leave: "Leave it standing",
  skipExtra: "Skip the extra move",
  challengeIt: "Challenge",
  letPass: "Let it pass",
  outcomes: { "=w": "Won", "=t": "Tied", "=l": "Lost" } as Record<string, string>,
  playNow: "Play now",
  retry: "Try again",

  // Under the board
  undo: "Undo",
  hint: "Hint",
  back: "Back",
  forward: "Forward",
  first: "To the start",
  last: "To the end",
  goOnHere: "Play on from here",
  hintTells: (plays: string[]) => (plays.length === 0 ? "There is nothing to choose." : `Hint: ${list(plays, "or")}.`),
  hintPlay: (play: string, share: number) => `${play} (${percent(share)})`,

  // Hands
  hand: (side: Side) => `${SIDE[side]}'s hand`,
  inHand: (count: number) => `${count} in hand`,
  onBoard: (count: number) => counted(count, "GIPF-piece"),
  captured: (count: number) => `${count} captured`,
  challenges: (count: number) => counted(count, "challenge") + " left",
  chooseKind: "Piece to enter",
  enterKind: (kind: string) => (kind === "S" ? "Basic piece" : kind === "G" ? "GIPF-piece" : `Loaded with ${KIND[kind]}`),
  stage: (stage: string, potentials: boolean) =>
    stage === "G"
      ? `GIPF-pieces end with the first ${potentials ? "loaded piece" : "basic piece"}${potentials ? ", both with the first basic piece" : ""}.`
      : stage === "L" && potentials ? "Loaded pieces end with the first basic piece." : "",

  // The player's opinion
  opinion: "Who stands better",
  chances: (white: number) => `White ${percent(white)}, Black ${percent(1 - white)}`,
  graph: (values: number) => `White's chances after each play, ${counted(values, "value")}; press to go to a play`,
  opinionOn: "Show who stands better",

  // Moves
  moves: "Moves",
  typePlay: "Type a play",
  make: "Play",

  // How pieces look
  legend: "Pieces and keys",
  legendItems: [
    ["S", "basic piece"], ["G", "GIPF-piece: two basic pieces, played as one"], ["ST", "loaded piece: a basic piece with an unused potential (T, Z, D, Y, P)"],
    ["T", "used potential: it stays as a piece without power"], ["sD", "cover: a used DVONN or PÜNCT on an opponent's piece, which does nothing until it is free"],
  ] as [string, string][],
  keys: "Arrow keys go over the board, Enter chooses, Escape takes a choice back. U undoes, H gives a hint, N begins a new game; outside the board the left and right arrow keys leaf through the game.",

  // Dialogs
  cancel: "Cancel",
  start: "Start",
  opponent: "Opponent",
  againstPlayer: "The trained player",
  twoPeople: "Two people at this screen",
  strength: "Strength",
  strengthTells: (level: number) => `${level} of 10`,
  yourColor: "You play",
  either: "Either, by lot",
  game: "Game",
  otherGame: "Another game…",
  variant: "Variant",
  variants: { basic: "Basic", standard: "Standard", tournament: "Tournament", ultimate: "Ultimate GIPF" } as Record<string, string>,
  pieces: "Basic pieces each",
  potentials: "Potentials each, 0 to 6 of a kind, 15 in all",
  blackOwn: "Black has other potentials",
  blackPotentials: "Black's potentials",
  challengeRule: "Challenges (combined game)",
  challengeKinds: { "": "none", rps: "rock-paper-scissors", coin: "toss of a coin", recorded: "side games played elsewhere" } as Record<string, string>,
  convert: "PÜNCT takes over GIPF-pieces (punct=convert)",
  rulesString: "Rules string",
  notForPlayer: "the player does not know this game",
  pasteTitle: "Paste a game",
  pasteHelp: "Official notation, plays joined by semicolons, or a line of a game file.",
  pasteText: "The game",
  read: "Read",
  copyTitle: "The game as text",
  close: "Close",
  fault: (text: string) => `That cannot be: ${text}`,

  // Set-up
  setUpTitle: "Set up a position",
  setUpHelp: "Choose what to place, then spots. A potential goes on top of what stands there.",
  place: "Place",
  placeHere: "place here",
  erase: "Nothing: empty the spot",
  color: "Colour",
  handOf: (side: Side) => `${SIDE[side]}'s hand: basic pieces`,
  handPotential: (side: Side, kind: string) => `${SIDE[side]}'s hand: ${KIND[kind]}`,
  stageOf: (side: Side) => `${SIDE[side]} may still enter`,
  stages: { G: "GIPF-, loaded, basic pieces", L: "loaded and basic pieces", B: "basic pieces" } as Record<string, string>,
  toMove: "To move",
  positionText: "Position text",
  clear: "Clear the board",
  playFromHere: "Play from here",
};

/** The top of a stack and what is below it, in words. */
export function stackWords(stack: string): string {
  const side = (letter: string): Side => (letter === letter.toUpperCase() ? "w" : "b");
  const letters = [...stack];
  const item = (letter: string, below: string | undefined): string => {
    const kind = letter.toUpperCase();
    if (kind === "S") return texts.basic(side(letter));
    if (kind === "G") return texts.gipf(side(letter));
    if (below !== undefined && below.toUpperCase() === "S" && side(below) === side(letter)) return texts.loaded(side(letter), kind);
    return texts.used(side(letter), kind);
  };
  const words: string[] = [];
  letters.forEach((letter, level) => {
    const below = letters[level - 1];
    const text = item(letter, level === 1 ? below : undefined);
    // A loaded piece is one thing, its potential and what carries it.
    if (level === 1 && text === texts.loaded(side(letter), letter.toUpperCase())) words.pop();
    words.push(text);
  });
  return words.reduceRight((above, below) => (above === "" ? below : texts.covers(above, below)), "");
}

/** A play as somebody reads it: the official notation, or words where that has no sign. */
export const playWords = (official: string): string => (official === "" ? texts.declined : official);
