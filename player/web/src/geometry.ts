/** The board's points and lines, and where they lie in the drawing (rules, section 1). */

export interface Place {
  x: number;
  y: number;
}

const COLUMNS = "abcdefghi";
/** Between neighbouring points. */
export const UNIT = 50;
/** Around the outermost points: room for their names. */
const MARGIN = 36;
const STRIDE = (UNIT * Math.sqrt(3)) / 2;

export const WIDTH = 8 * STRIDE + 2 * MARGIN;
export const HEIGHT = 8 * UNIT + 2 * MARGIN;
export const CENTRE: Place = { x: WIDTH / 2, y: HEIGHT / 2 };

const pointsOf = (column: number): number => 9 - Math.abs(column - 4);

/** All 61 points, column by column, from White's side up. */
export const POINTS: readonly string[] = [...COLUMNS].flatMap((letter, column) =>
  Array.from({ length: pointsOf(column) }, (_, index) => `${letter}${index + 1}`));

/** Whether a point is a dot, where pieces enter, and no spot. */
export function isDot(point: string): boolean {
  const column = COLUMNS.indexOf(point.charAt(0));
  const number = Number(point.slice(1));
  return column === 0 || column === 8 || number === 1 || number === pointsOf(column);
}

/** The 37 spots in the order of position texts. */
export const SPOTS: readonly string[] = POINTS.filter((point) => !isDot(point));

/** Where a point lies, White's side below; `turned`: Black's. */
export function place(point: string, turned: boolean): Place {
  const column = COLUMNS.indexOf(point.charAt(0));
  const middle = (pointsOf(column) + 1) / 2;
  const sign = turned ? -1 : 1;
  return {
    x: CENTRE.x + sign * (column - 4) * STRIDE,
    y: CENTRE.y - sign * (Number(point.slice(1)) - middle) * UNIT,
  };
}

const key = ({ x, y }: Place): string => `${Math.round(x)},${Math.round(y)}`;

/** The ends of the 21 lines, dots both. */
export function lines(): [string, string][] {
  const at = new Map(POINTS.map((point) => [key(place(point, false)), point]));
  const found: [string, string][] = [];
  for (const angle of [90, 30, -30]) {
    const radians = (angle * Math.PI) / 180;
    const step = { x: UNIT * Math.cos(radians), y: -UNIT * Math.sin(radians) };
    const beside = (point: string, sign: number): string | undefined => {
      const { x, y } = place(point, false);
      return at.get(key({ x: x + sign * step.x, y: y + sign * step.y }));
    };
    for (const point of POINTS) {
      if (beside(point, -1) !== undefined) continue;
      let end = point;
      let length = 0;
      for (let next = beside(end, 1); next !== undefined; next = beside(end, 1)) {
        end = next;
        length += 1;
      }
      // The rim itself, dots only, is no line.
      if (length > 4) found.push([point, end]);
    }
  }
  return found;
}

/** The point that an arrow key leads to: the nearest one within 60 degrees of its direction. */
export function neighbour(from: string, dx: number, dy: number, turned: boolean): string | undefined {
  const here = place(from, turned);
  let best: string | undefined;
  let least = Infinity;
  for (const point of POINTS) {
    const there = place(point, turned);
    const [x, y] = [there.x - here.x, there.y - here.y];
    const along = x * dx + y * dy;
    const across = Math.abs(x * dy - y * dx);
    if (along <= 1 || across > along * Math.sqrt(3) + 1) continue;
    const distance = along + 2 * across;
    if (distance < least) [best, least] = [point, distance];
  }
  return best;
}
