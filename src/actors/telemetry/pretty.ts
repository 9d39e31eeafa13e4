/**
 * One log line for a person at a terminal: time, level, task, message, and the rest as `key=value`. What came
 * from outside is made harmless: no control character reaches the terminal.
 */
import { printable } from '../kernel/index.ts';
import type { LogRecord } from '../protocol.ts';

const RESET = '\x1b[0m';
const DIM = '\x1b[2m';
const CYAN = '\x1b[36m';
const LEVELS = {
  debug: { word: 'DEBUG', colour: '\x1b[90m' },
  info: { word: 'INFO ', colour: '\x1b[32m' },
  warn: { word: 'WARN ', colour: '\x1b[33m' },
  error: { word: 'ERROR', colour: '\x1b[31m' },
} as const;

/** Shown in the line's fixed places, or said by its message already. */
const PLACED = new Set(['task', 'result']);

export function prettyLine(record: LogRecord, colours: boolean): string {
  const paint = (colour: string, text: string): string => (colours ? `${colour}${text}${RESET}` : text);
  const level = LEVELS[record.level];
  const fields = record.fields ?? {};
  let line = `${paint(DIM, clockTime(record.atMs))} ${paint(level.colour, level.word)} `;
  if (typeof fields.task === 'string') line += `${paint(CYAN, printable(fields.task))} `;
  line += printable(record.msg);
  for (const [key, value] of Object.entries(fields)) {
    if (PLACED.has(key) || value === undefined || (key === 'attempt' && value === 1)) continue;
    line += ` ${paint(DIM, `${printable(key)}=`)}${shown(key, value)}`;
  }
  return `${line}\n`;
}

function shown(key: string, value: unknown): string {
  if (key === 'error' && typeof value === 'object' && value !== null) return errorText(value);
  if (typeof value === 'string') return /^[^\s"=]+$/.test(value) ? printable(value) : printable(`"${value}"`);
  return printable(JSON.stringify(value) ?? String(value));
}

function errorText(error: object): string {
  const code = 'code' in error ? String(error.code) : 'unknown';
  return 'message' in error ? printable(`${code} "${String(error.message)}"`) : printable(code);
}

/** Local time of day with milliseconds. */
function clockTime(atMs: number): string {
  const at = new Date(atMs);
  const two = (n: number): string => String(n).padStart(2, '0');
  const ms = String(at.getMilliseconds()).padStart(3, '0');
  return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}.${ms}`;
}
