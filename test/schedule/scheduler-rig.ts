/** A scheduler that notes what it says, and short ways to write schedules, policies and instants. */
import assert from 'node:assert/strict';
import type { Clock } from '../../src/actors/kernel/clock.ts';
import type { ClockJump } from '../../src/actors/views/runtime-view.ts';
import {
  DEFAULT_DST,
  type DstPolicy,
  type MisfirePolicy,
  type ScheduleSpec,
} from '../../src/main/config/config.ts';
import { ClockWatch, type ScheduledTask, Scheduler } from '../../src/main/schedule/index.ts';
import { cronFields } from '../support/cron-fields.ts';

export const runOnce: MisfirePolicy = { policy: 'run-once', graceMs: null, max: 100 };

export const runAll: MisfirePolicy = { policy: 'run-all', graceMs: null, max: 100 };
export const skip: MisfirePolicy = { policy: 'skip', graceMs: null, max: 100 };

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

export const at = (text: string): number => Date.parse(`${text}Z`);
export const iso = (atMs: number): string => new Date(atMs).toISOString().slice(0, 16);

/** `2026-06-01T10:20 10:40 11:00`, a new day written out, in full: each with its day. */
export function instants(text: string): string[] {
  let day = '';
  return text
    .split(' ')
    .filter((word) => word !== '')
    .map((word) => {
      const [date, time = date] = word.split('T');
      if (word.includes('T')) day = date!;
      return `${day}T${time}`;
    });
}

export const cron = (
  expression: string,
  timeZone: string | null = 'UTC',
  dst: DstPolicy = DEFAULT_DST,
): ScheduleSpec => ({ kind: 'cron', expression, timeZone, dst, fields: cronFields(expression) });

export const every = (everyMs: number): ScheduleSpec => ({ kind: 'every', everyMs });

export function scheduled(fields: Partial<ScheduledTask> & { name: string }): ScheduledTask {
  return { schedule: null, misfire: runOnce, splayMs: 0, runOnStart: false, ...fields };
}

export interface Rig {
  readonly scheduler: Scheduler;
  readonly watch: ClockWatch;
  /** Task, occurrence, and the wall time at which it was given out. */
  readonly due: [task: string, occurrenceMs: number, atMs: number][];
  /** Of these, those that are all to run although they are late. */
  readonly catchUps: [task: string, occurrenceMs: number][];
  readonly missed: [task: string, count: number, more: boolean][];
  readonly jumps: [kind: ClockJump, sizeMs: number][];
  readonly ended: [task: string, stopAtMs: number][];
  /** Occurrences of a task in the order they were given out. */
  of(task: string): number[];
}

export function start(
  tasks: readonly ScheduledTask[],
  clock: Clock,
  handled: Readonly<Record<string, number>> = {},
): Rig {
  const jumps: Rig['jumps'] = [];
  const watch = new ClockWatch(clock, (kind, sizeMs) => jumps.push([kind, sizeMs]));
  const rig: Omit<Rig, 'scheduler' | 'of'> = { due: [], catchUps: [], missed: [], jumps, ended: [], watch };
  const scheduler = new Scheduler({
    clock,
    watch,
    tasks,
    onDue({ task, occurrenceMs, catchUp }) {
      rig.due.push([task, occurrenceMs, clock.wallMs()]);
      if (catchUp) rig.catchUps.push([task, occurrenceMs]);
    },
    onMissed: (task, { missed, more }) => rig.missed.push([task, missed, more]),
    onLost: (task) => assert.fail(`no next occurrence of ${task}`),
    onEnded: (task, stopAtMs) => rig.ended.push([task, stopAtMs]),
  });
  scheduler.start(new Map(Object.entries(handled)));
  scheduler.start();
  return {
    ...rig,
    scheduler,
    of: (name) => rig.due.filter(([task]) => task === name).map(([, occurrence]) => occurrence),
  };
}

/** Occurrences as texts; none of the scheduler came early. */
export function given(rig: Rig, task: string): string[] {
  for (const [, occurrence, givenAtMs] of rig.due) assert.ok(givenAtMs >= occurrence, 'none comes early');
  return rig.of(task).map(iso);
}

export function missedOf(rig: Rig, task: string): number {
  return rig.missed.filter(([name]) => name === task).reduce((sum, [, count]) => sum + count, 0);
}
