/** Colours, or none: on a terminal that wants them only. */
import { cutToWidth } from './text.ts';

const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, blue: 34, cyan: 36 } as const;
export type Colour = keyof typeof CODES;

const RESET = '\x1b[0m';
/** Of `Paint`: other control characters stand escaped in a text. */
const ESCAPES = /(\x1b\[[0-9]+m)/;

export class Paint {
  readonly on: boolean;

  constructor(on: boolean) {
    this.on = on;
  }

  paint(colour: Colour | null, text: string): string {
    return this.on && colour !== null && text !== '' ? `\x1b[${CODES[colour]}m${text}${RESET}` : text;
  }
}

/** The same state has the same colour everywhere. */
export function stateColour(state: string): Colour | null {
  switch (state) {
    case 'success':
      return 'green';
    case 'failed':
      return 'red';
    case 'retrying':
    case 'interrupted':
    case 'orphaned':
      return 'yellow';
    case 'running':
      return 'blue';
    case 'skipped':
    case 'cancelled':
      return 'dim';
    default:
      return null;
  }
}

/** As `cutToWidth` does, of a text that has colours; what begins within the cut ends there too. */
export function cutPainted(text: string, width: number): string {
  const pieces = text.split(ESCAPES);
  const plain = pieces.filter((_, i) => i % 2 === 0).join('');
  const cut = cutToWidth(plain, width);
  if (cut === plain) return text;
  let left = Math.max(0, cut.length - 1);
  let shown = '';
  for (const [i, piece] of pieces.entries()) {
    if (i % 2 === 1) shown += piece;
    else if (piece.length <= left) {
      shown += piece;
      left -= piece.length;
    } else {
      shown += piece.slice(0, left);
      // What is open ends, and nothing else begins.
      const end = pieces[i + 1] === RESET ? RESET : '';
      return `${shown}${width <= 0 ? '' : '…'}${end}`;
    }
  }
  return shown;
}
