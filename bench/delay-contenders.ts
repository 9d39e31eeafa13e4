/** What `delay` measures: the engines, the heap without its fine timer, and bare timers of the runtime. */
import { createDelayEngine, DelayEngineName } from '../src/actors/delay/index.ts';
import { type Clock, systemClock } from '../src/actors/kernel/index.ts';

export const CONTENDERS = [...Object.values(DelayEngineName), 'heap-whole', 'setTimeout'] as const;
export type ContenderName = (typeof CONTENDERS)[number];

/** In the order in which tables show them. */
export const TITLES: Readonly<Record<ContenderName, string>> = {
  heap: 'heap',
  'heap-whole': 'heap with whole milliseconds',
  wheel: 'wheel',
  timers: 'timers',
  poll: 'poll',
  setTimeout: 'setTimeout',
};

export interface Contender {
  /** Gives what `remove` takes. */
  add(dueMs: number): unknown;
  remove(handle: unknown): void;
  /** Where it can be moved in place. */
  move?(handle: unknown, dueMs: number): void;
  close(): void;
}

export interface ContenderOptions {
  readonly clock: Clock;
  readonly now: () => number;
  readonly onDue: (dueMs: number) => void;
  readonly batchMs?: number;
}

/** The system's clock without what it can do below a millisecond. */
export const wholeClock: Clock = {
  wallMs: () => systemClock.wallMs(),
  monoMs: () => systemClock.monoMs(),
  setTimer: (delayMs, callback) => systemClock.setTimer(delayMs, callback),
};

export function openContender(name: ContenderName, options: ContenderOptions): Contender {
  if (name === 'setTimeout') return bareTimers(options);
  const { onDue, clock, ...rest } = options;
  const engine = createDelayEngine<number>(name === 'heap-whole' ? 'heap' : name, {
    ...rest,
    clock: name === 'heap-whole' ? wholeClock : clock,
    onDue: (_item, dueMs) => onDue(dueMs),
  });
  return {
    add: (dueMs) => engine.schedule(dueMs, 1),
    remove: (handle) => void engine.cancel(handle as number),
    move: (handle, dueMs) => void engine.reschedule(handle as number, dueMs),
    close: () => engine.close(),
  };
}

/** As one writes it by hand: the wait is handed over as it is. */
function bareTimers({ now, onDue }: ContenderOptions): Contender {
  return {
    add: (dueMs) => setTimeout(onDue, Math.max(0, dueMs - now()), dueMs),
    remove: (handle) => clearTimeout(handle as NodeJS.Timeout),
    close: () => {},
  };
}
