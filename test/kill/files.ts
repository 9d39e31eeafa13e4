/** The inbox, which is fed while the daemon is killed, and what must have become of each of its files. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import type { Random } from './random.ts';
import type { Violation } from './violations.ts';

const LINE = /^([0-9a-f]{64}) {2}(.+)$/;
const LINES_A_FILE = { least: 10, most: 4000 } as const;
/** A file that has just been written is left to the next scan; these look older. */
const AGE_MS = 60_000;

export class Inbox {
  readonly #dir: string;
  /** Name below the inbox → sha256 of its content. */
  readonly #files = new Map<string, string>();
  #fed = 0;

  /** `dir`: of the config. */
  constructor(dir: string) {
    this.#dir = dir;
    for (const name of ['inbox', 'staging', 'out', 'outbox']) mkdirSync(join(dir, name), { recursive: true });
  }

  /** Files that were ever put there. */
  get fed(): number {
    return this.#fed;
  }

  /** One more file, whole from the moment it can be seen. */
  feed(random: Random): void {
    const name = `${random.between(1, 5)}/file-${++this.#fed}.txt`;
    const lines = random.between(LINES_A_FILE.least, LINES_A_FILE.most);
    const text = Array.from({ length: lines }, (_, line) => `${name} ${line} ${line * this.#fed}\n`).join('');
    const staged = join(this.#dir, 'staging', 'next');
    const target = join(this.#dir, 'inbox', name);
    writeFileSync(staged, text);
    const age = new Date(Date.now() - AGE_MS);
    utimesSync(staged, age, age);
    mkdirSync(dirname(target), { recursive: true });
    renameSync(staged, target);
    this.#files.set(name, createHash('sha256').update(text).digest('hex'));
  }

  /** Of the files that stand in the inbox. */
  violations(): Violation[] {
    const found: Violation[] = [];
    const lines = this.#manifest(found);
    for (const [name, hex] of this.#files) {
      const hashed = lines.get(`../inbox/${name}`) ?? [];
      if (hashed.length !== 1 || hashed[0] !== hex) {
        found.push({
          rule: 'manifest',
          text: `${name}: expected one line ${hex}, got ${hashed.join(', ') || 'none'}`,
        });
      }
      const output = join(this.#dir, 'outbox', `${name}.zst`);
      const got = existsSync(output) ? unpackedHash(output) : 'no file';
      if (got !== hex) found.push({ rule: 'compressed', text: `${name}: expected ${hex}, got ${got}` });
    }
    return found;
  }

  /** Takes out all files that stand there, and their outputs: a scan walks through what is left. */
  clear(): void {
    for (const name of this.#files.keys()) {
      rmSync(join(this.#dir, 'inbox', name));
      rmSync(join(this.#dir, 'outbox', `${name}.zst`), { force: true });
    }
    this.#files.clear();
  }

  #manifest(found: Violation[]): Map<string, string[]> {
    const file = join(this.#dir, 'out', 'SHA256SUMS');
    const lines = new Map<string, string[]>();
    if (!existsSync(file)) return lines;
    for (const line of readFileSync(file, 'utf8').split('\n')) {
      // What a crash cut short is made a comment.
      if (line === '' || line.startsWith('#')) continue;
      const match = LINE.exec(line);
      if (match === null) {
        found.push({ rule: 'manifest', text: `expected a line of a manifest, got ${line}` });
        continue;
      }
      const [, hex, name] = match;
      lines.set(name!, [...(lines.get(name!) ?? []), hex!]);
    }
    return lines;
  }
}

function unpackedHash(file: string): string {
  try {
    return createHash('sha256')
      .update(zstdDecompressSync(readFileSync(file)))
      .digest('hex');
  } catch (error) {
    return String(error);
  }
}
