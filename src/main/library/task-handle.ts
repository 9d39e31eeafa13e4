/** What stands for a task, or a flow, in the hands of a program. */
declare const types: unique symbol;

/** Stands for a task of one app, with the types of its input and of what comes of it. */
export interface TaskHandle<in Input, out Output> {
  readonly name: string;
  /** Of the types alone; it is never there. */
  readonly [types]?: (input: Input) => Output;
}

/** Stands for a task that has a run for each item of a list in a flow: its result is the list of theirs. */
export interface ItemTask<in Item, out Output> {
  readonly name: string;
  readonly [types]?: { readonly ofItem: (item: Item) => Output };
}

/** Any of them. */
export type AnyTask = TaskHandle<never, unknown> | ItemTask<never, unknown>;
