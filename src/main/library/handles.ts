/** The handles that an app has given out: what a program names a task with, and what it may be taken for. */
import { ColibriError, describeValue } from '../../actors/kernel/index.ts';
import { ConfigInvalid } from '../config/index.ts';
import type { AnyTask } from './task-handle.ts';

type Kind = 'task' | 'flow';

export class Handles {
  readonly #given = new Map<string, { readonly handle: AnyTask; readonly kind: Kind }>();

  give(name: string, kind: Kind): AnyTask {
    const handle: AnyTask = Object.freeze({ name });
    this.#given.set(name, { handle, kind });
    return handle;
  }

  /** Of a task or a flow: what can be triggered. Throws `no-such-task`. */
  nameOf(task: unknown): string {
    return this.#find(task).name;
  }

  /** Of a task alone: what can be a step. Throws `no-such-task`. */
  taskNameOf(task: unknown): string {
    const { name, kind } = this.#find(task);
    if (kind === 'task') return name;
    throw refused(
      `expected the handle of a task, got that of the flow ${name}; name the tasks it is made of`,
    );
  }

  /** Of each of a list that may be missing. `place`: what it is, and of whom. Throws `no-such-task`, `ConfigInvalid`. */
  taskNamesOf(tasks: unknown, place: string): readonly string[] {
    return listOf(tasks ?? [], place, 'a list of handles').map((task) => this.taskNameOf(task));
  }

  #find(task: unknown): { readonly name: string; readonly kind: Kind } {
    const name = (task as AnyTask | null | undefined)?.name;
    const given = typeof name === 'string' ? this.#given.get(name) : undefined;
    if (given !== undefined && given.handle === task) return { name: given.handle.name, kind: given.kind };
    const isOther = typeof task === 'object' && typeof name === 'string';
    const got = isOther ? `that of ${describeValue(name)} of another one` : describeValue(task);
    throw refused(`expected the handle of a task of this app, as app.task gives it, got ${got}`);
  }
}

/** Throws `ConfigInvalid`. */
export function listOf(value: unknown, place: string, expected: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw invalidOptions(`${place}: expected ${expected}, got ${describeValue(value)}`);
}

/** Throws `ConfigInvalid`. */
export function objectOf<T extends object>(value: T, place: string, expected: string): T {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw invalidOptions(`${place}: expected ${expected}, got ${describeValue(value)}`);
}

/** Throws `ConfigInvalid`: it would be seen when it is called, long after. */
export function expectFunction(value: unknown, place: string): void {
  if (typeof value === 'function') return;
  throw invalidOptions(`${place}: expected a function, got ${describeValue(value)}`);
}

export function invalidOptions(message: string): ConfigInvalid {
  return new ConfigInvalid([{ file: 'options', line: 0, column: 0, message }]);
}

function refused(message: string): ColibriError {
  return new ColibriError('no-such-task', message);
}
