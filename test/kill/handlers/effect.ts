/** Works for a while, fails as often as its run's id says, and writes into the ledger what it does. */
import { setTimeout as passed } from 'node:timers/promises';
import type { HandlerContext } from '../../../src/workers/handler.ts';
import { appendLine, LedgerMark } from '../ledger.ts';

export interface EffectInput {
  readonly ledger: string;
  readonly ms: number;
  /** Holds its thread meanwhile, as a computation does. */
  readonly holds?: boolean;
  /** The first attempts of a run fail, so many at most; default: none. */
  readonly failures?: number;
  readonly doomed?: boolean;
  /** One run in so many fails whatever is done; default: none. */
  readonly misfortune?: number;
  /** Of the list that comes of it; default: the attempt does. */
  readonly rows?: number;
}

export default async function effect(input: EffectInput, context: HandlerContext): Promise<unknown> {
  const { run, attempt } = context;
  const note = (mark: LedgerMark) =>
    appendLine(input.ledger, { run, attempt, mark, pid: process.pid, atMs: Date.now() });
  note(LedgerMark.Begin);
  try {
    if (input.holds === true) hold(input.ms);
    else await passed(input.ms, undefined, { signal: context.signal });
  } catch (error) {
    note(LedgerMark.Cut);
    throw error;
  }
  if (
    input.doomed === true ||
    isUnlucky(run, input.misfortune ?? 0) ||
    attempt <= failuresOf(run, input.failures ?? 0)
  ) {
    note(LedgerMark.Fail);
    throw new Error(`meant to fail in attempt ${attempt}`);
  }
  note(LedgerMark.End);
  return input.rows === undefined ? attempt : Array.from({ length: input.rows }, (_, row) => row);
}

function hold(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** The same for all attempts of a run. */
function failuresOf(run: string, most: number): number {
  return sumOf(run) % (most + 1);
}

/** The same for all attempts of a run. */
export function isUnlucky(run: string, misfortune: number): boolean {
  return misfortune > 0 && sumOf(`luck of ${run}`) % misfortune === 0;
}

function sumOf(text: string): number {
  let sum = 0;
  for (const character of text) sum = (sum * 31 + character.charCodeAt(0)) % 65_521;
  return sum;
}
