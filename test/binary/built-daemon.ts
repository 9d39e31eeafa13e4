/** A daemon from `dist/` or from the single executable, and what it writes. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import type { HasAfter } from '../support/temp-dir.ts';

export type Line = Readonly<Record<string, unknown>>;

export interface StartOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
}

export class BuiltDaemon {
  readonly child: ChildProcessByStdio<null, Readable, Readable>;
  /** JSON lines of both streams, in order of arrival. */
  readonly lines: Line[] = [];
  readonly ended: Promise<number | NodeJS.Signals | null>;
  /** What is no JSON. */
  #rest = '';
  #wake = Promise.withResolvers<void>();

  constructor(t: HasAfter, { command, args, cwd, env = {} }: StartOptions) {
    this.child = spawn(command, args, {
      cwd,
      env: { PATH: process.env.PATH, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.child.stdout, this.child.stderr]) this.#read(stream);
    this.ended = once(this.child, 'close').then(([code, signal]) => code ?? signal);
    t.after(async () => {
      this.child.kill('SIGKILL');
      await this.ended;
    });
  }

  /** The first line, past or to come, that is wanted; rejects when the process ends without one. */
  async line(wanted: (line: Line) => boolean): Promise<Line> {
    const ended = this.ended.then((how) => {
      throw new Error(`expected another line, got the end with ${how}: ${this.#rest}`);
    });
    ended.catch(() => {});
    for (;;) {
      const found = this.lines.find(wanted);
      if (found !== undefined) return found;
      await Promise.race([this.#wake.promise, ended]);
    }
  }

  #read(stream: Readable): void {
    let rest = '';
    stream.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop()!;
      for (const line of lines) {
        if (line.startsWith('{')) this.lines.push(JSON.parse(line) as Line);
        else this.#rest += `${line}\n`;
      }
      this.#wake.resolve();
      this.#wake = Promise.withResolvers<void>();
    });
  }
}
