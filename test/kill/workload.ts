/** The config of the daemons that are killed, and what is triggered meanwhile. */
import { join } from 'node:path';
import { withoutTypes } from '../support/program.ts';
import { CHAIN, flowConfig, type Graph } from './graphs.ts';
import { type EffectInput, isUnlucky } from './handlers/effect.ts';
import type { Random } from './random.ts';

export const GRACE_SECONDS = 1;
/** Every occurrence of it is run, also those that were missed. */
export const EVERY_SECOND = 'every-second';
/** Tasks whose new occurrences show that the schedule goes on. */
export const BEATS: readonly string[] = ['beat', EVERY_SECOND];
/** Its runs wait for each other. */
export const SERIAL = 'serial';
/** Fails whatever is done. */
export const DOOMED = 'doomed';
/** What does not keep the ledger by itself; nor does a flow. */
const LEDGERLESS: readonly string[] = ['hash-inbox', 'compress-inbox', 'wait'];

export interface StoreChoice {
  readonly kind: 'memory' | 'sqlite';
  readonly durability: 'process' | 'power';
}

export interface WorkloadOptions {
  readonly ledger: string;
  readonly store: StoreChoice;
  /** Default: `./state` of the config's folder. */
  readonly stateDir?: string;
  /** Flows beside the chain. */
  readonly graphs?: readonly Graph[];
}

const COMMAND = `
note() { printf 'run %s %s %s %s 0 .\\n' "$COLIBRI_RUN" "$COLIBRI_ATTEMPT" "$1" "$PPID" >>"$LEDGER"; }
note begin
sleep 0.0$((PPID % 9 + 1))
note end`;

/** Longer than the grace. */
const SLOW_COMMAND = COMMAND.replace(/^sleep .*$/m, 'sleep 1.3');

/** A config in the shape of the file, as far as it is looked at here. */
export interface Written extends Readonly<Record<string, unknown>> {
  readonly tasks: readonly object[];
  readonly flows: readonly object[];
}

export function workload({ ledger, store, stateDir, graphs = [] }: WorkloadOptions): Written {
  const effect = (name: string, input: Omit<EffectInput, 'ledger'>, more: object) => ({
    name,
    handler: 'effect',
    with: { ledger, ...input },
    overlap: 'allow',
    ...more,
  });
  const command = (name: string, script: string) => ({
    name,
    handler: 'command',
    with: { argv: ['sh', '-c', script], env: { LEDGER: ledger } },
    overlap: 'allow',
  });
  return {
    state_dir: stateDir ?? './state',
    store,
    metrics: { listen: null },
    shutdown: { grace_seconds: GRACE_SECONDS },
    // Nothing is to be forgotten while it is looked for.
    retention: { runs: 1_000_000, results: 200, dead_letters: 100_000, max_mb: 4000 },
    queues: {
      // Small enough to be full now and then: triggers and scans wait for room, and are killed waiting.
      ready: { capacity: 40, when_full: 'block' },
      retry: { capacity: 20_000 },
      dead_letter: { capacity: 20_000 },
    },
    handlers: [withoutTypes(join(import.meta.dirname, 'handlers', '*.ts'))],
    defaults: { max_retry: 6, backoff: { kind: 'scaled', base_seconds: 0.05, cap_seconds: 0.5 } },
    tasks: [
      {
        name: 'hash-inbox',
        handler: 'hash',
        with: { algorithm: 'sha256', manifest: './out/SHA256SUMS' },
        each: { files: './inbox/**/*' },
        every: '300ms',
      },
      {
        name: 'compress-inbox',
        handler: 'compress',
        with: { algorithm: 'zstd', to: './outbox' },
        each: { files: './inbox/**/*' },
        every: '400ms',
      },
      command('command', COMMAND),
      command('slow-command', SLOW_COMMAND),
      { name: 'wait', handler: 'sleep', with: { ms: 20 }, overlap: 'allow' },
      effect('flaky-io', { ms: 20, failures: 2 }, { kind: 'io' }),
      effect('flaky-cpu', { ms: 5, failures: 2, holds: true }, { kind: 'cpu' }),
      effect(SERIAL, { ms: 15 }, { kind: 'io', overlap: 'queue-all' }),
      effect(DOOMED, { ms: 5, doomed: true }, { kind: 'io', max_retry: 1 }),
      effect('beat', { ms: 60 }, { kind: 'io', every: '250ms', overlap: 'skip' }),
      effect(
        EVERY_SECOND,
        { ms: 10 },
        { kind: 'io', schedule: '* * * * * *', misfire: { policy: 'run-all', max: 1000 } },
      ),
      ...[CHAIN, ...graphs].flatMap(({ steps }) =>
        steps.map((step) => effect(step.task, step.effect, { kind: 'io' })),
      ),
    ],
    flows: [CHAIN, ...graphs].map(flowConfig),
  };
}

/** Of a hundred triggers. */
const SHARES: Readonly<Record<string, number>> = {
  'flaky-io': 30,
  [SERIAL]: 10,
  'flaky-cpu': 25,
  wait: 5,
  [CHAIN.flow]: 10,
  command: 14,
  [DOOMED]: 5,
  'slow-command': 1,
};
const DECK = Object.entries(SHARES).flatMap(([task, share]) => Array.from({ length: share }, () => task));

/** One in so many begins later, which may be in another life of the daemon. */
const LATER = 8;
const LATER_MS = { least: 20, most: 3000 } as const;

export interface TriggerRequest {
  readonly task: string;
  readonly payload: object;
  readonly due_at?: string;
}

/** One in so many is one of a graph. */
const GRAPH = 12;

/** Of random size, so that pages of the journal fill unevenly. */
export function nextTrigger(random: Random, graphs: readonly Graph[]): TriggerRequest {
  const isOfGraph = graphs.length > 0 && random.between(1, GRAPH) === 1;
  const task = isOfGraph ? random.pick(graphs).flow : random.pick(DECK);
  const request = { task, payload: { note: 'x'.repeat(random.between(0, 600)) } };
  if (random.between(1, LATER) > 1) return request;
  const dueAtMs = Date.now() + random.between(LATER_MS.least, LATER_MS.most);
  return { ...request, due_at: new Date(dueAtMs).toISOString() };
}

export function taskOf(run: string): string {
  return run.slice(0, run.indexOf('@'));
}

export function keepsLedger(run: string): boolean {
  return isStep(run) || !(LEDGERLESS.includes(taskOf(run)) || isFlow(run));
}

export function isFlow(run: string): boolean {
  return !isStep(run) && /^(?:chain|graph-\d+)@/.test(run);
}

/** Fails whatever is done. */
export function isDoomed(run: string, graphs: readonly Graph[]): boolean {
  if (!isStep(run)) return taskOf(run) === DOOMED;
  const name = run.slice(run.indexOf('/') + 1).replace(/\[\d+\]$/, '');
  const step = graphs.flatMap(({ steps }) => steps).find(({ task }) => task === name);
  return isUnlucky(run, step?.effect.misfortune ?? 0);
}

/** The run of a flow that a step's run belongs to; of any other run, that itself. */
export function flowOf(run: string): string {
  return run.split('/', 1)[0]!;
}

/** Of a flow. */
export function isStep(run: string): boolean {
  return run.includes('/');
}
