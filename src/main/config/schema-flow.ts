/** The schema of `flows:`. What a task says of its schedule and its limits, a flow and its steps say in the same words. */
import { EXPECTATION_SCHEMA } from '../../actors/flow/index.ts';
import type { JsonSchema } from '../../actors/kernel/json-schema.ts';
import { count, NAME_MEANING, NAME_PATTERN, oneOf, section, text } from './schema-parts.ts';
import { backoff, scheduleKeys, shared, timeoutSeconds } from './schema-task.ts';

const input: JsonSchema = {
  type: 'object',
  additionalProperties: true,
  description:
    'Laid over the `with` of the task; `{{ payload.x }}` and `{{ steps.NAME.result.x }}` stand for what the flow and its steps have.',
};

const stepSchema: JsonSchema = {
  type: 'object',
  required: ['task'],
  additionalProperties: false,
  properties: {
    task: text('A task of this file.'),
    depends_on: {
      type: 'array',
      default: [],
      items: text('A task of this flow.'),
      description: 'Steps that end before this one starts.',
    },
    on_upstream_failure: oneOf(
      'What this step does when one before it did not succeed.',
      ['skip', 'run', 'fail'],
      'skip',
    ),
    with: input,
    each: section(
      'One run for each item of a list.',
      {
        list: {
          ...text('The list, such as `{{ steps.NAME.result }}`.'),
          pattern: '\\{\\{',
          patternMeaning: 'a template for a list, such as {{ steps.NAME.result }}',
        },
        concurrency: count('Items at a time.', 10, { max: 10_000 }),
        on_item_failure: oneOf(
          'Of the other items when one did not succeed: stop them, or continue.',
          ['stop', 'continue'],
          'stop',
        ),
      },
      { optional: true, required: ['list'] },
    ),
    expect: EXPECTATION_SCHEMA,
    timeout_seconds: { ...timeoutSeconds, description: 'In place of that of the task.' },
    max_retry: count('In place of that of the task.', undefined, { min: 0, max: 1000 }),
    backoff,
    priority: count('In place of that of the task.', undefined, { min: -1000, max: 1000 }),
  },
};

const { time_zone, dst, misfire, overlap, splay_seconds, priority } = shared;

export const flowSchema: JsonSchema = {
  type: 'object',
  description: 'Tasks that depend on each other.',
  required: ['name', 'steps'],
  additionalProperties: false,
  properties: {
    name: {
      type: 'string',
      pattern: NAME_PATTERN,
      patternMeaning: NAME_MEANING,
      description: 'Unique among flows and tasks.',
    },
    ...scheduleKeys,
    ...Object.fromEntries(
      Object.entries({ time_zone, dst, misfire, overlap, splay_seconds, priority }).filter(
        (entry): entry is [string, JsonSchema] => entry[1] !== undefined,
      ),
    ),
    run_on_start: { type: 'boolean', default: false, description: 'Also run once when the daemon starts.' },
    timeout_seconds: {
      type: ['number', 'null'],
      exclusiveMinimum: 0,
      maximum: 2_147_483,
      default: null,
      description: 'Seconds after its start at which the flow is ended; null: never.',
    },
    on_failure: section(
      'What runs when the flow has failed.',
      { task: text('A task of this file.'), with: input },
      { optional: true, required: ['task'] },
    ),
    steps: { type: 'array', description: 'The tasks, in any order.', items: stepSchema },
  },
};
