/** The marks of files that were dealt with: 8 bytes each, by task. */
import type { Statements } from './statements.ts';

export class TaskMarks {
  readonly #statements: Statements;
  /** As many as there are tasks with `each`. */
  readonly #ids: Map<string, number>;

  constructor(statements: Statements) {
    this.#statements = statements;
    this.#ids = new Map(statements.tasks.all().map(({ id, task }) => [task as string, id as number]));
  }

  /** `mark`: 16 hex digits. */
  add(task: string, mark: string): void {
    let id = this.#ids.get(task);
    if (id === undefined) {
      id = Number(this.#statements.addTask.get(task)?.id);
      this.#ids.set(task, id);
    }
    this.#statements.addMark.run(id, bytesOf(mark));
  }

  of(task: string, marks: readonly string[]): ReadonlySet<string> {
    const id = this.#ids.get(task);
    if (id === undefined) return new Set();
    return new Set(marks.filter((mark) => this.#statements.hasMark.get(id, bytesOf(mark)) !== undefined));
  }
}

function bytesOf(mark: string): Uint8Array {
  return Buffer.from(mark, 'hex');
}
