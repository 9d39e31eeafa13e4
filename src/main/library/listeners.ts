/** Who is told of what happens in an app. What a listener throws, at once or later, is logged and ends nothing. */
import { ColibriError, describeValue } from '../../actors/kernel/index.ts';
import type { EndedRun } from './app-run.ts';
import { expectFunction } from './handles.ts';

export interface AppEvents {
  /** A run is over, however it ended. */
  runEnded: EndedRun;
  /** Something that cannot be mended from inside: the app stops. Without a listener it is a warning of the process. */
  fault: ColibriError;
}

/** What it gives is void, or a promise where it is async. */
type Listener<Name extends keyof AppEvents> = (event: AppEvents[Name]) => unknown;

export class Listeners {
  readonly #onFailed: (event: string, error: unknown) => void;
  readonly #listeners: { readonly [Name in keyof AppEvents]: Set<Listener<Name>> } = {
    runEnded: new Set(),
    fault: new Set(),
  };

  constructor(onFailed: (event: string, error: unknown) => void) {
    this.#onFailed = onFailed;
  }

  /** Gives a function that takes it away. Throws `usage` for an event that there is not, `ConfigInvalid` for no function. */
  on<Name extends keyof AppEvents>(name: Name, listener: Listener<Name>): () => void {
    if (!Object.hasOwn(this.#listeners, name)) {
      const names = Object.keys(this.#listeners).join(' or ');
      throw new ColibriError('usage', `on: expected ${names}, got ${describeValue(name)}`);
    }
    expectFunction(listener, `on ${name}`);
    const listeners: Set<Listener<Name>> = this.#listeners[name];
    // One function may be given twice, and taken away once.
    const own: Listener<Name> = (event) => listener(event);
    listeners.add(own);
    return () => void listeners.delete(own);
  }

  has(name: keyof AppEvents): boolean {
    return this.#listeners[name].size > 0;
  }

  emit<Name extends keyof AppEvents>(name: Name, event: AppEvents[Name]): void {
    const listeners: Set<Listener<Name>> = this.#listeners[name];
    for (const listener of [...listeners]) this.call(name, () => listener(event));
  }

  /** One that is no listener of all of them, but of one flow. */
  call(event: string, listener: () => unknown): void {
    try {
      const given = listener();
      if (given instanceof Promise) given.catch((error: unknown) => this.#onFailed(event, error));
    } catch (error) {
      this.#onFailed(event, error);
    }
  }
}
