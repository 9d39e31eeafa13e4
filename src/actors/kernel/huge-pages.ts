/**
 * Transparent huge pages, where the system gives them to everyone (`always`, the default of some distributions): the first
 * byte of a range brings 2 MB then, in the code of each isolate for one, 4 MB for a daemon at work. They are turned off for
 * the process. Its children would inherit that, so they are turned on for the moment in which one is made.
 */
import { readFileSync } from 'node:fs';
import { loadFfi, type NativeFunction, nativeFunction } from './ffi.ts';

/** prctl(2). */
const PR_SET_THP_DISABLE = 41;
const PR_GET_THP_DISABLE = 42;
const SETTING = '/sys/kernel/mm/transparent_hugepage/enabled';

export class HugePages {
  readonly #setting: () => string;
  /** Undefined: not looked at yet; null: there is nothing to do here. */
  #prctl: NativeFunction | null | undefined;

  /** `setting`: what the system says of them, for tests. */
  constructor(setting: () => string = readSetting) {
    this.#setting = setting;
  }

  /** Before threads start. */
  turnOff(): void {
    this.#control()?.(PR_SET_THP_DISABLE, 1n, 0n, 0n, 0n);
  }

  /** Makes a child process that has them as the system gives them. Throws what `spawn` throws. */
  forChild<T>(spawn: () => T): T {
    const prctl = this.#control();
    // Not in a program that has them by its own choice.
    if (prctl === null || prctl(PR_GET_THP_DISABLE, 0n, 0n, 0n, 0n) !== 1) return spawn();
    prctl(PR_SET_THP_DISABLE, 0n, 0n, 0n, 0n);
    try {
      return spawn();
    } finally {
      prctl(PR_SET_THP_DISABLE, 1n, 0n, 0n, 0n);
    }
  }

  #control(): NativeFunction | null {
    if (this.#prctl === undefined) {
      const ffi = this.#setting().includes('[always]') ? loadFfi() : undefined;
      const found = ffi && nativeFunction(ffi, 'prctl', ['i32', 'u64', 'u64', 'u64', 'u64']);
      this.#prctl = found ?? null;
    }
    return this.#prctl;
  }
}

/** Of this thread: each looks at the system once. */
export const hugePages = new HugePages();

function readSetting(): string {
  try {
    return readFileSync(SETTING, 'latin1');
  } catch {
    return '';
  }
}
