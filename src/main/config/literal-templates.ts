/** Templates where nothing fills them in: in the `with` of a task itself, whose values every run gets as they are. */
import { isMeantAsTemplate } from '../../actors/flow/index.ts';
import { describeValue, type SchemaPath } from '../../actors/kernel/check-schema.ts';
import type { ResolveScope } from './resolve-scope.ts';

/** Levels of a `with` that are looked at, as in that of a step. */
const MAX_DEPTH = 32;

export function warnOfTemplates(given: unknown, path: SchemaPath, scope: ResolveScope): void {
  // What is no tree of data was refused, and has no end.
  if (scope.problems.hasWithin(path)) return;
  for (const { path: inner, text } of templatesIn(given, [])) {
    const message = `expected a value as it is, got ${describeValue(text)}, which nothing fills in here; move it to the with of a step, or to that of on_failure, in a flow`;
    scope.problems.warn([...path, ...inner], message);
  }
}

interface FoundTemplate {
  readonly path: SchemaPath;
  readonly text: string;
}

function* templatesIn(value: unknown, path: SchemaPath): Generator<FoundTemplate> {
  if (typeof value === 'string') {
    if (isMeantAsTemplate(value)) yield { path, text: value };
  } else if (typeof value === 'object' && value !== null && path.length < MAX_DEPTH) {
    const isList = Array.isArray(value);
    for (const [key, inner] of Object.entries(value))
      yield* templatesIn(inner, [...path, isList ? Number(key) : key]);
  }
}
