/** How many runs at once, and how many within a time: `groups`, and the bounds of a task → what the runs are given. */
import { parseTemplateText, type TextPart } from '../../actors/flow/index.ts';
import { describeValue, type SchemaPath } from '../../actors/kernel/check-schema.ts';
import { parseDuration } from '../../actors/kernel/parse-time.ts';
import type { RateSpec } from '../../actors/runs/bounds.ts';
import { type Config, OverlapPolicy, type TaskSpec } from './config.ts';
import type { RawConfig, RawGroup, RawTask } from './raw-config.ts';
import type { ResolveScope } from './resolve-scope.ts';

const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1000,
  sec: 1000,
  second: 1000,
  m: 60_000,
  min: 60_000,
  minute: 60_000,
  h: 3_600_000,
  hour: 3_600_000,
  d: 86_400_000,
  day: 86_400_000,
};
const RATE = /^\s*(\d{1,9})\s*\/\s*(\d*[a-z][a-z0-9]*)\s*$/;
/** Of a rate: a timer wakes for each run that it holds back. */
const MAX_PER_SECOND = 10_000;
const MAX_PER_MS = 31 * 86_400_000;

export function resolveGroups(raw: RawConfig['groups'], scope: ResolveScope): Config['groups'] {
  const groups = Object.entries(raw).map(([name, group]) => {
    const path = ['groups', name];
    const rate = resolveRate(group, path, scope);
    if (group.concurrency === undefined && group.rate === undefined) {
      scope.problems.add(path, 'expected concurrency, rate or both, got neither; add concurrency: 10');
    }
    const { concurrency } = group;
    return [
      name,
      { ...(concurrency === undefined ? {} : { concurrency }), ...(rate === null ? {} : { rate }) },
    ];
  });
  return Object.fromEntries(groups) as Config['groups'];
}

function resolveRate({ rate, burst }: RawGroup, path: SchemaPath, scope: ResolveScope): RateSpec | null {
  if (rate === undefined) {
    if (burst !== undefined) {
      const message = 'expected burst beside a rate, got it alone; add rate, or remove burst';
      scope.problems.add([...path, 'burst'], message, 'key');
    }
    return null;
  }
  const parsed = parseRate(rate);
  if ('problem' in parsed) {
    scope.problems.add([...path, 'rate'], `expected ${parsed.problem}, got ${describeValue(rate)}`);
    return null;
  }
  return { ...parsed, burst: burst ?? 1 };
}

/** `100/min`, `5/s`, `30/10s`; what is wrong with it otherwise. */
export function parseRate(
  text: string,
): { readonly count: number; readonly perMs: number } | { readonly problem: string } {
  const [, number, unit = ''] = RATE.exec(text) ?? [];
  const count = Number(number);
  const perMs = (Object.hasOwn(UNIT_MS, unit) ? UNIT_MS[unit] : parseDuration(unit)) ?? 0;
  if (number === undefined || count === 0 || perMs <= 0) {
    return { problem: 'a rate such as 100/min, 5/s, 1000/hour or 30/10s' };
  }
  if (perMs > MAX_PER_MS) return { problem: 'a rate over at most 31 days' };
  if (count / perMs > MAX_PER_SECOND / 1000) return { problem: `a rate of at most ${MAX_PER_SECOND}/s` };
  return { count, perMs };
}

/** Null: a task without bounds of its own. */
export function resolveTaskBounds(task: RawTask, path: SchemaPath, scope: ResolveScope): TaskSpec['bounds'] {
  const { concurrency = null, concurrency_key: text, concurrency_per_key: perKey } = task;
  if (text === undefined && perKey !== undefined) {
    const message =
      'expected concurrency_per_key beside concurrency_key, got it alone; add concurrency_key, or remove it';
    scope.problems.add([...path, 'concurrency_per_key'], message, 'key');
  }
  const parts = text === undefined ? null : resolveKey(text, [...path, 'concurrency_key'], scope);
  if (concurrency === null && parts === null) return null;
  return { concurrency, key: parts === null ? null : { parts, concurrency: perKey ?? 1 } };
}

/** Overlap is judged first: with another policy than `allow` there is never more than one run to be bounded. */
export function warnOfOverlap(
  task: RawTask,
  overlap: OverlapPolicy,
  { path, scope }: { readonly path: SchemaPath; readonly scope: ResolveScope },
): void {
  if (overlap === OverlapPolicy.Allow || task.each !== undefined) return;
  const key = task.concurrency_key !== undefined ? 'concurrency_key' : 'concurrency';
  if (task[key] === undefined) return;
  const message = `expected overlap: allow beside ${key}, got ${overlap}: it lets one run of the task be in progress; say overlap: allow, or remove ${key}`;
  scope.problems.warn([...path, key], message, 'key');
}

function resolveKey(text: string, path: SchemaPath, scope: ResolveScope): readonly TextPart[] | null {
  const other = /\{\{\s*(steps|item|flow)\b/.exec(text)?.[1];
  if (other !== undefined) {
    const message = `expected {{ payload… }}, the input of the run, got {{ ${other}… }}, which only a step of a flow has`;
    scope.problems.add(path, message);
    return null;
  }
  const parsed = parseTemplateText(text, { steps: new Set(), upstream: new Set(), hasItem: false });
  if ('problem' in parsed) {
    scope.problems.add(path, parsed.problem);
    return null;
  }
  if (parsed.parts.some((part) => 'source' in part)) return parsed.parts;
  const message = `expected a template such as {{ payload.customer }}, got ${describeValue(text)}, which is one key for all runs; say concurrency in place of it`;
  scope.problems.add(path, message);
  return null;
}
