/** Text in columns: how wide it stands on a terminal, cut and padded to a width. */
import { printable } from '../../../actors/kernel/index.ts';

/** Code points of two columns: the East Asian wide and fullwidth blocks, and emoji. */
const WIDE: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2e80, 0x303e],
  [0x3041, 0x33ff],
  [0x3400, 0x4dbf],
  [0x4e00, 0x9fff],
  [0xa000, 0xa4cf],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x1f300, 0x1faff],
  [0x20000, 0x3fffd],
];

export function displayWidth(text: string): number {
  let width = 0;
  for (const character of text) width += widthOf(character);
  return width;
}

/** At most `width` columns; a cut text ends in `…`. */
export function cutToWidth(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  if (width <= 0) return '';
  let cut = '';
  let used = 1;
  for (const character of text) {
    used += widthOf(character);
    if (used > width) break;
    cut += character;
  }
  return `${cut}…`;
}

export function padTo(text: string, width: number, right = false): string {
  const missing = ' '.repeat(Math.max(0, width - displayWidth(text)));
  return right ? missing + text : text + missing;
}

/** Narrower than this, a text is not wrapped to be readable. */
const NARROWEST_TEXT = 20;

/** Lines of at most `width` columns, broken between words; a longer word stands alone. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line === '' || displayWidth(longer) <= Math.max(width, NARROWEST_TEXT)) line = longer;
    else {
      lines.push(line);
      line = word;
    }
  }
  if (line !== '') lines.push(line);
  return lines;
}

/** `7 tasks and 1 flow`, counted the same wherever it is said; of a config without flows only tasks. */
export function tasksText(tasks: number, flows: number): string {
  const count = `${tasks} ${tasks === 1 ? 'task' : 'tasks'}`;
  return flows === 0 ? count : `${count} and ${flows} ${flows === 1 ? 'flow' : 'flows'}`;
}

/** JSON or text on one line, harmless to a terminal. */
export function oneLine(value: unknown): string {
  return printable(typeof value === 'string' ? value : JSON.stringify(value));
}

/** A text of several lines, harmless to a terminal. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}

function widthOf(character: string): number {
  const code = character.codePointAt(0)!;
  if (code < 0x300) return 1;
  // Combining marks, joiners and variation selectors stand on the character before.
  if (/^(?:\p{Mn}|\p{Me}|\p{Cf}|\ufe0f)$/u.test(character)) return 0;
  return WIDE.some(([from, to]) => code >= from && code <= to) ? 2 : 1;
}
