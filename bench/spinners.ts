/** Processes that do nothing but keep cores busy. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

export class Spinners {
  readonly #children: readonly ChildProcess[];

  constructor(count: number) {
    this.#children = Array.from({ length: count }, () =>
      spawn(process.execPath, ['--eval', 'for (;;);'], { stdio: 'ignore' }),
    );
  }

  /** Idempotent. */
  async stop(): Promise<void> {
    for (const child of this.#children) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    }
  }
}
