/**
 * The schema of the whole config: what `colibri schema` prints and what files, variables and options are
 * checked against. Rules that need more than one place at once live in `resolve-*.ts`.
 */
import type { JsonSchema } from '../../actors/kernel/json-schema.ts';
import { LogLevel, WhenFull } from './config.ts';
import { flowSchema } from './schema-flow.ts';
import { count, MAX_AT_ONCE, MAX_SECONDS, oneOf, seconds, section, text } from './schema-parts.ts';
import { defaultsSchema, taskSchema } from './schema-task.ts';

const MAX_CAPACITY = 10_000_000;

const pools = section('Where runs execute.', {
  cpu: section('Threads for work that computes.', {
    threads: {
      anyOf: [{ const: 'auto' }, { type: 'integer', minimum: 1, maximum: 64 }],
      default: 'auto',
      description: 'At most so many threads; auto: one a core.',
    },
    idle_seconds: seconds('An idle thread is ended after this.', 10),
  }),
  io: section('Slots for work that waits: either `slots`, or the times from which they follow.', {
    slots: {
      anyOf: [{ const: 'measured' }, { type: 'integer', minimum: 1, maximum: 1000 }],
      description:
        'A number, or measured: the times of the runs themselves. Default: cores × (1 + wait / compute).',
    },
    wait_ms: {
      type: 'number',
      minimum: 0,
      maximum: 3_600_000,
      description: 'Typical wait of a run. Default 80.',
    },
    compute_ms: {
      type: 'number',
      exclusiveMinimum: 0,
      maximum: 3_600_000,
      description: 'Typical computing of a run. Default 20.',
    },
  }),
});

function share(description: string, value: number): JsonSchema {
  return { type: 'number', exclusiveMinimum: 0, maximum: 1, default: value, description };
}

const queues = section('Every queue has a bound.', {
  ready: section('Runs that are due: either `capacity`, or the two numbers whose product it is.', {
    capacity: count('Runs. Default 15000.', undefined, { max: MAX_CAPACITY }),
    backlog_per_second: {
      type: 'number',
      exclusiveMinimum: 0,
      maximum: MAX_CAPACITY,
      description: 'Runs a second that pile up in a burst. Default 500.',
    },
    tolerate_seconds: {
      type: 'number',
      exclusiveMinimum: 0,
      maximum: 86_400,
      description: 'How long a burst is absorbed. Default 30.',
    },
    when_full: oneOf('What happens to one more.', Object.values(WhenFull), WhenFull.Block),
    high_water: share('Share of the capacity at which its sources wait.', 0.9),
    low_water: share('Share at which they go on.', 0.75),
    ageing_seconds: {
      type: 'number',
      minimum: 0.001,
      maximum: MAX_SECONDS,
      default: 60,
      description: 'How much waiting one step of priority is worth.',
    },
  }),
  delayed: section('Occurrences that wait for their time.', {
    capacity: count('Runs.', 20_000, { max: MAX_CAPACITY }),
  }),
  retry: section('Runs that wait for their next attempt.', {
    capacity: count('Runs.', 2000, { max: MAX_CAPACITY }),
  }),
  dead_letter: section('Runs that failed for good.', {
    capacity: count('Runs.', 2000, { max: MAX_CAPACITY }),
    when_full: oneOf('Which one is given up.', ['drop-oldest', 'drop-newest'], 'drop-oldest'),
  }),
});

const retention = section('How much of the past is kept.', {
  runs: count('Ended runs.', 10_000, { min: 0, max: MAX_CAPACITY }),
  results: count('Results of ended runs.', 200, { min: 0, max: MAX_CAPACITY }),
  result_ttl_hours: {
    type: 'number',
    minimum: 0,
    maximum: 87_600,
    default: 24,
    description: 'Age of a result.',
  },
  dead_letters: count('Dead letters.', 2000, { min: 0, max: MAX_CAPACITY }),
  max_mb: {
    type: 'number',
    exclusiveMinimum: 0,
    maximum: 1_000_000,
    default: 64,
    description: 'Size on disk.',
  },
  result_files_mb: {
    type: 'number',
    minimum: 0,
    maximum: 1_000_000,
    default: 256,
    description: 'Files of large results together; 0: such a result is refused.',
  },
});

const log = section('One JSON object a line.', {
  level: oneOf('Lines below this are not written.', Object.values(LogLevel), LogLevel.Info),
  file: { ...text('Where to; null: stdout.'), type: ['string', 'null'], default: null },
  max_mb: {
    type: 'number',
    exclusiveMinimum: 0,
    maximum: 1_000_000,
    default: 50,
    description: 'Size of all log files.',
  },
  keep_days: count('Age of a log file.', 14, { max: 36_500 }),
});

/** The sections of the contract, in its order; then the short forms. */
export const configSchema: JsonSchema = {
  type: 'object',
  description: 'The config of colibri. Every key is optional but the name and handler of a task.',
  additionalProperties: false,
  properties: {
    version: {
      type: ['string', 'null'],
      maxLength: 200,
      default: null,
      description: 'Free text, shown in status.',
    },
    state_dir: text('Journal, control socket and logs; relative to this file.', './state'),
    memory: section('What the whole process may hold.', {
      budget_mb: count('Resident memory in MB.', 40, { min: 16, max: 1_048_576 }),
    }),
    shutdown: section('How the daemon ends.', {
      grace_seconds: seconds('Running work may take so long to end after SIGTERM.', 15, 86_400),
    }),
    store: section('Where runs are kept.', {
      kind: oneOf(
        'sqlite: a journal in the state directory. memory: nothing survives the process.',
        ['memory', 'sqlite'],
        'sqlite',
      ),
      durability: oneOf(
        'process: survives kill -9; power: survives a power cut.',
        ['process', 'power'],
        'process',
      ),
    }),
    retention,
    pools,
    queues,
    concurrency: count('Runs at once over all pools.', undefined, { max: MAX_AT_ONCE }),
    groups: {
      type: 'object',
      default: {},
      description: 'Names that tasks share a limit by.',
      additionalProperties: section(
        'One group: concurrency, rate or both.',
        {
          concurrency: count('Runs at once over all its tasks.', undefined, { max: MAX_AT_ONCE }),
          rate: text('Runs that begin within a time: 100/min.'),
          burst: count('Runs that may begin at once after a pause. Default 1.', undefined, {
            max: MAX_AT_ONCE,
          }),
        },
        { optional: true },
      ),
    },
    metrics: {
      ...section('The metrics and health endpoints.', {
        listen: {
          ...text('host:port; null: not served.'),
          type: ['string', 'null'],
          default: '127.0.0.1:9464',
        },
      }),
      type: ['object', 'null'],
    },
    log,
    handlers: {
      type: 'array',
      maxItems: 100,
      default: [],
      items: text('A glob of user modules.'),
      description: 'User modules; a module’s name is its file name without the extension.',
    },
    defaults: defaultsSchema,
    tasks: { type: 'array', maxItems: 100_000, default: [], items: taskSchema, description: 'The tasks.' },
    flows: { type: 'array', maxItems: 10_000, default: [], items: flowSchema, description: 'The flows.' },
    queue_size: count('Short for queues.ready.capacity.', undefined, { max: MAX_CAPACITY }),
    workers: {
      anyOf: [{ const: 'measured' }, { type: 'integer', minimum: 1, maximum: 1000 }],
      description: 'Short for pools.io.slots.',
    },
    log_level: oneOf('Short for log.level.', Object.values(LogLevel)),
  },
};
