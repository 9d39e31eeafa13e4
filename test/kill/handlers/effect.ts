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
}

export default async function effect(input: EffectInput, context: HandlerContext): Promise<number> {
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
  if (input.doomed === true || attempt <= failuresOf(run, input.failures ?? 0)) {
    note(LedgerMark.Fail);
    throw new Error(`meant to fail in attempt ${attempt}`);
  }
  note(LedgerMark.End);
  return attempt;
}

function hold(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** The same for all attempts of a run. */
function failuresOf(run: string, most: number): number {
  let sum = 0;
  for (const character of run) sum = (sum * 31 + character.charCodeAt(0)) % 65_521;
  return sum % (most + 1);
}
