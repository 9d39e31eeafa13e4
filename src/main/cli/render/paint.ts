/** Colours, or none: on a terminal that wants them only. */
const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, blue: 34, cyan: 36 } as const;
export type Colour = keyof typeof CODES;

export class Paint {
  readonly on: boolean;

  constructor(on: boolean) {
    this.on = on;
  }

  paint(colour: Colour | null, text: string): string {
    return this.on && colour !== null && text !== '' ? `\x1b[${CODES[colour]}m${text}\x1b[0m` : text;
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
