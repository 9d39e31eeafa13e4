/** The schema of `tasks:` and `defaults:`, and what flows say in the same words. */
import type { JsonSchema } from '../../actors/kernel/json-schema.ts';
import { OverlapPolicy } from './config.ts';
import {
  count,
  MAX_AT_ONCE,
  MAX_SECONDS,
  NAME_MEANING,
  NAME_PATTERN,
  oneOf,
  seconds,
  section,
  text,
} from './schema-parts.ts';

/** Dates and ranges of `exclude`. */
const MAX_EXCLUDED = 1000;

/** Zero would end every run at its start, so it is no timeout. */
export const timeoutSeconds: JsonSchema = {
  type: 'number',
  exclusiveMinimum: 0,
  maximum: 2_147_483,
  description: 'Seconds after its start at which a run is aborted and its slot freed. Default 30.',
};

export const backoff = section(
  'The wait before a retry. Keys that are missing come from `defaults`.',
  {
    kind: oneOf(
      'scaled: base × 2^(n−1) × (0.5 + rand), capped; additive: min(cap, base × 2^(n−1)) + uniform(0, jitter). Default scaled.',
      ['scaled', 'additive'],
    ),
    base_seconds: seconds('The wait before the first retry, before jitter. Default 1.'),
    cap_seconds: seconds('The longest wait before its jitter. Default 60.'),
    jitter_seconds: seconds('The most that `additive` adds. Default 1.'),
  },
  { optional: true },
);

const misfire = section(
  'What becomes of occurrences that were missed while the daemon was down or the clock stepped.',
  {
    policy: oneOf('Run one for all that were missed, each of them, or none. Default run-once.', [
      'run-once',
      'run-all',
      'skip',
    ]),
    grace_seconds: {
      type: ['number', 'null'],
      minimum: 0,
      maximum: MAX_SECONDS,
      description: 'An occurrence later than this is missed; null: it is never too late. Default null.',
    },
    max: count('At most so many missed occurrences are run by run-all. Default 100.', undefined, {
      max: 100_000,
    }),
  },
  { optional: true },
);

const dst = section(
  'Local times that a change of the clocks skips or repeats.',
  {
    gap: oneOf(
      'A time that does not exist: shift to the first instant after the gap, or skip. Default shift.',
      ['shift', 'skip'],
    ),
    repeat: oneOf('A time that comes twice: run at the first, the last, or both. Default first.', [
      'first',
      'last',
      'both',
    ]),
  },
  { optional: true },
);

/** What both a task and `defaults` may say. Without defaults of their own: a missing key means inheriting. */
export const shared: Readonly<Record<string, JsonSchema>> = {
  time_zone: { ...text('IANA name such as Europe/Berlin. Default: the zone of the machine.') },
  dst,
  misfire,
  overlap: oneOf(
    'What happens when a task is due while it still runs. Default skip.',
    Object.values(OverlapPolicy),
  ),
  splay_seconds: seconds(
    'Each occurrence is delayed by a time up to this, always the same for one task. Default 0.',
  ),
  timeout_seconds: timeoutSeconds,
  max_retry: count('Retries after the first attempt. Default 5.', undefined, { min: 0, max: 1000 }),
  backoff,
  on_interrupted: oneOf(
    'What becomes of a run whose host ended under it; ask: a dead letter. Default rerun.',
    ['rerun', 'skip', 'ask'],
  ),
  priority: count('Higher goes first. Default 0.', undefined, { min: -1000, max: 1000 }),
};

export const defaultsSchema: JsonSchema = section(
  'What tasks inherit when they do not say it themselves.',
  shared,
);

/** When a task, or a flow, runs by itself. */
export const scheduleKeys: Readonly<Record<string, JsonSchema>> = {
  schedule: text('Cron of 5 fields, or 6 with seconds first, or @hourly and kin.'),
  every: {
    type: ['string', 'number'],
    minLength: 1,
    maxLength: 100,
    description: 'A fixed interval: 500ms, 5s, 1m30s, 2h, or a number of seconds.',
  },
  at: text('One instant with its zone: 2026-12-24T18:00:00Z.'),
  start_at: text('Occurrences from this instant on count: 2026-12-24T18:00:00Z.'),
  stop_at: text('Occurrences before this instant count.'),
  exclude: {
    type: 'array',
    maxItems: MAX_EXCLUDED,
    items: text(
      'A local date such as 2026-12-25, or 2026-12-24..2027-01-02 for all from the first to the last.',
    ),
    description: 'Local dates without occurrences.',
  },
};

export const taskSchema: JsonSchema = {
  type: 'object',
  description: 'One task.',
  required: ['name', 'handler'],
  additionalProperties: false,
  properties: {
    name: { type: 'string', pattern: NAME_PATTERN, patternMeaning: NAME_MEANING, description: 'Unique.' },
    kind: oneOf(
      'cpu: on a thread of its own kind; io: in the async pool. A built-in handler knows its own; a user module is io unless it is said.',
      ['cpu', 'io'],
    ),
    handler: text('A built-in handler, or the base name of a module found by `handlers`.'),
    with: {
      type: 'object',
      additionalProperties: true,
      default: {},
      description: 'The input of each run, checked against the handler’s own schema.',
    },
    each: section(
      'One run for each file that matches.',
      { files: text('A glob such as ./inbox/**/*, relative to this file.') },
      { optional: true, required: ['files'] },
    ),
    ...scheduleKeys,
    run_on_start: { type: 'boolean', default: false, description: 'Also run once when the daemon starts.' },
    group: text('The group whose bounds it shares.'),
    concurrency: count('Runs of it at once.', undefined, { max: MAX_AT_ONCE }),
    concurrency_key: text('What tells its runs apart: {{ payload.customer }}.'),
    concurrency_per_key: count('Runs of one key at once. Default 1.', undefined, { max: MAX_AT_ONCE }),
    ...shared,
  },
};
