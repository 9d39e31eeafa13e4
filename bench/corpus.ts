/**
 * Files to work on, the same on every machine: a generator with a seed gives every byte.
 *
 * The text is like a service's log: times that rise, levels and places from small sets, words drawn by
 * Zipf's law, numbers and ids that do not repeat. gzip -6 makes 28 % of it, which is
 * what it makes of many real logs.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface CorpusFile {
  /** Absolute. */
  readonly path: string;
  readonly relative: string;
  readonly root: string;
  readonly size: number;
}

export interface CorpusSpec {
  readonly root: string;
  readonly count: number;
  readonly bytes: number;
  readonly content: 'text' | 'noise';
}

const LEVELS = ['INFO', 'INFO', 'INFO', 'INFO', 'DEBUG', 'DEBUG', 'WARN', 'ERROR'];
const SYLLABLES =
  'ba ce di fo gu ha je ki lo mu na pe ri so tu va we xi yo zu sta tri pro con ment tion'.split(' ');

/** Writes the files and says what they are. */
export function makeCorpus(spec: CorpusSpec): CorpusFile[] {
  const { root, count, bytes, content } = spec;
  const buffer = Buffer.allocUnsafeSlow(bytes);
  return Array.from({ length: count }, (_, index) => {
    const relative = `${content}-${String(index).padStart(3, '0')}.log`;
    const path = join(root, relative);
    if (content === 'text') fillText(buffer, index + 1);
    else fillNoise(buffer, index + 1);
    writeFileSync(path, buffer);
    return { path, relative, root, size: bytes };
  });
}

/** Fills the buffer with lines of a log; the last one may be cut. */
export function fillText(buffer: Buffer, seed: number): void {
  const random = randomFrom(seed);
  const words = vocabulary(randomFrom(77));
  let atMs = Date.UTC(2026, 0, 1) + seed * 86_400_000;
  let used = 0;
  while (used < buffer.length) {
    atMs += Math.floor(random() * 400);
    used += buffer.write(logLine(random, words, atMs), used);
    // A character of one byte always fits; nothing else is written here.
  }
}

function logLine(random: () => number, words: readonly string[], atMs: number): string {
  let text = `${new Date(atMs).toISOString()} ${LEVELS[Math.floor(random() * LEVELS.length)]} `;
  text += `[${words[Math.floor(random() * 24)]}.${words[Math.floor(random() * 60)]}]`;
  const length = 4 + Math.floor(random() * 12);
  // Zipf: the rank is exponential in a uniform number.
  for (let word = 0; word < length; word += 1) text += ` ${words[Math.floor(words.length ** random()) - 1]}`;
  if (random() < 0.5) text += ` duration_ms=${Math.floor(random() * 5000)}`;
  if (random() < 0.35) text += ` id=${Math.floor(random() * 2 ** 32).toString(16)}`;
  return `${text}\n`;
}

function vocabulary(random: () => number): string[] {
  return Array.from({ length: 6000 }, () => {
    let word = '';
    for (let left = 1 + Math.floor(random() * 4); left > 0; left -= 1) {
      word += SYLLABLES[Math.floor(random() * SYLLABLES.length)];
    }
    return word;
  });
}

function fillNoise(buffer: Buffer, seed: number): void {
  const random = randomFrom(seed);
  for (let at = 0; at + 4 <= buffer.length; at += 4) buffer.writeUInt32LE(random() * 2 ** 32, at);
}

/** Uniform in [0, 1): a 32-bit counter, mixed as MurmurHash3 ends. */
function randomFrom(seed: number): () => number {
  let state = Math.imul(seed, 0x9e3779b1);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
    value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
    return ((value ^ (value >>> 16)) >>> 0) / 2 ** 32;
  };
}
