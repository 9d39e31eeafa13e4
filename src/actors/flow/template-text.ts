/**
 * The text between the braces: `{{ steps.pull_order.result.date }}`, `{{ payload.customer }}`, `{{ item }}`, `{{ flow.run }}`,
 * or a text in quotes that stands for itself: `{{ "{{" }}`. A place and nothing else: no calls, no operators. Pure.
 */
import { describeValue, didYouMean, type SchemaPath } from '../kernel/check-schema.ts';
import { parseValuePath } from '../results/value-path.ts';

/** Where a value comes from, and the way into it. */
export type ValueSource =
  | { readonly kind: 'payload' | 'item'; readonly path: SchemaPath }
  | { readonly kind: 'step'; readonly step: string; readonly path: SchemaPath }
  /** The id of the run that has the result of the step. */
  | { readonly kind: 'run'; readonly step: string }
  | { readonly kind: 'flow'; readonly field: FlowField | FailureField };

/** What a flow run says of itself. `due`: the instant it stands for, ISO 8601. */
export const FLOW_FIELDS = ['name', 'run', 'due'] as const;
export type FlowField = (typeof FLOW_FIELDS)[number];
/** And of its failure, for `on_failure`: the step that failed, null where that is none by itself; why. */
export const FAILURE_FIELDS = ['failed_step', 'error'] as const;
export type FailureField = (typeof FAILURE_FIELDS)[number];

export type TextPart = { readonly text: string } | { readonly source: ValueSource };

/** What may be named where the template stands. */
export interface TemplateScope {
  /** All steps of the flow. */
  readonly steps: ReadonlySet<string>;
  /** There are more, whose names are not known. */
  readonly mayLackNames?: boolean;
  /** Those that are over when this one starts, direct or not. */
  readonly upstream: ReadonlySet<string>;
  /** Whether it stands in a step with `each`. */
  readonly hasItem: boolean;
  /** Whether it is the list of one. */
  readonly isList?: boolean;
  /** The step that it stands in; in none: left out. */
  readonly own?: string;
  /** Steps that wait for that one, directly or not. */
  readonly behind?: ReadonlySet<string>;
  /** Whether it is filled in when the flow has failed. */
  readonly hasFailure?: boolean;
}

const ROOTS = ['payload', 'steps', 'item', 'flow'] as const;

/** Whether there is anything to be filled in. */
export function hasTemplate(text: string): boolean {
  return text.includes('{{');
}

/** A template that could be filled in here. Those of other programs, such as `{{.Names}}`, are none. */
const OURS = new RegExp(`\\{\\{\\s*(?:${ROOTS.join('|')})\\s*(?:\\}\\}|[.[])`);

/** Whether it is meant to be filled in from a flow. */
export function isMeantAsTemplate(text: string): boolean {
  return hasTemplate(text) && OURS.test(text);
}

/** The parts of a text in order; what is wrong with it is a sentence. */
export function parseTemplateText(
  text: string,
  scope: TemplateScope,
): { readonly parts: readonly TextPart[] } | { readonly problem: string } {
  const parts: TextPart[] = [];
  let at = 0;
  for (let open = text.indexOf('{{'); open >= 0; open = text.indexOf('{{', at)) {
    if (open > at) parts.push({ text: text.slice(at, open) });
    const close = endOfExpression(text, open + 2);
    if (close < 0) {
      return {
        problem: `expected }} after ${describeValue(text.slice(open, open + 40))}, got none; ${LITERAL}`,
      };
    }
    const expression = text.slice(open + 2, close).trim();
    const part = parseExpression(expression, scope);
    if ('problem' in part) return part;
    parts.push(part);
    at = close + 2;
  }
  if (at < text.length) parts.push({ text: text.slice(at) });
  return { parts };
}

/** The one place that a text names and nothing else, as for a list. */
export function parseSource(
  text: string,
  scope: TemplateScope,
): { readonly source: ValueSource } | { readonly problem: string } {
  const parsed = parseTemplateText(text, scope);
  if ('problem' in parsed) return parsed;
  const [only, ...more] = parsed.parts;
  if (only !== undefined && 'source' in only && more.length === 0) return { source: only.source };
  return { problem: `expected one template such as {{ steps.NAME.result }}, got ${describeValue(text)}` };
}

const LITERAL = 'braces that mean themselves are written {{ "{{" }}';

/** Braces within quotes do not end it. −1: it has no end. */
function endOfExpression(text: string, from: number): number {
  let quoted = false;
  for (let at = from; at < text.length; at++) {
    if (text[at] === '"') quoted = !quoted;
    else if (quoted && text[at] === '\\') at++;
    else if (!quoted && text.startsWith('}}', at)) return at;
  }
  return -1;
}

function parseExpression(expression: string, scope: TemplateScope): TextPart | { readonly problem: string } {
  if (expression.startsWith('"')) {
    const literal = parsedText(expression);
    return literal === null
      ? { problem: `expected a text in quotes, got ${describeValue(expression)}` }
      : { text: literal };
  }
  if (!/^[a-z]/.test(expression)) {
    return { problem: `expected ${namesOf(ROOTS)}, got ${describeValue(expression)}; ${LITERAL}` };
  }
  const parsed = parseValuePath(expression);
  if ('problem' in parsed) return { problem: `{{ ${expression.slice(0, 80)} }}: ${parsed.problem}` };
  const source = sourceOf(parsed.path, scope);
  return 'problem' in source ? source : { source };
}

function parsedText(expression: string): string | null {
  try {
    const value: unknown = JSON.parse(expression);
    return typeof value === 'string' ? value : null;
  } catch {
    return null;
  }
}

function sourceOf(path: SchemaPath, scope: TemplateScope): ValueSource | { readonly problem: string } {
  const [root, ...rest] = path;
  switch (root) {
    case 'payload':
      return { kind: 'payload', path: rest };
    case 'item':
      if (scope.isList === true) {
        return { problem: 'expected payload or steps, got item, which this list is to give; name a list' };
      }
      if (scope.hasItem) return { kind: 'item', path: rest };
      return {
        problem: 'expected a step with each, got item in one without; add each, or name payload or steps',
      };
    case 'steps':
      return stepSource(rest, scope);
    case 'flow':
      return flowSource(rest, scope);
    default: {
      const remedy = didYouMean(String(root), ROOTS) || `; ${LITERAL}`;
      return { problem: `expected ${namesOf(ROOTS)}, got ${describeValue(root)}${remedy}` };
    }
  }
}

function stepSource(
  [step, word, ...path]: SchemaPath,
  { steps, mayLackNames = false, upstream, own, behind, hasFailure = false }: TemplateScope,
): ValueSource | { readonly problem: string } {
  if (hasFailure) {
    const got = describeValue(['steps', ...(step === undefined ? [] : [step])].join('.'));
    return {
      problem: `expected payload or flow, got ${got}: on_failure runs whatever became of the steps; name flow.failed_step and flow.error, or add a step with on_upstream_failure: run`,
    };
  }
  if (typeof step !== 'string') return { problem: 'expected steps.NAME.result, got no name' };
  const isKnown = steps.has(step);
  if (!isKnown && !mayLackNames) {
    return { problem: `expected a step of this flow, got ${describeValue(step)}${didYouMean(step, steps)}` };
  }
  if (isKnown && !upstream.has(step)) {
    const expected = 'expected a step that is over when this one starts, got';
    if (step === own) {
      return { problem: `${expected} ${describeValue(step)}, which is this step; name one before it` };
    }
    const remedy =
      behind?.has(step) === true
        ? ', which waits for this one; name one before it'
        : `; add ${step} to depends_on`;
    return { problem: `${expected} ${describeValue(step)}${remedy}` };
  }
  if (word === 'result') return { kind: 'step', step, path };
  if (word === 'run' && path.length === 0) return { kind: 'run', step };
  const got = word === undefined ? 'nothing' : describeValue([word, ...path].join('.'));
  return { problem: `expected result or run after steps.${step}, got ${got}` };
}

function flowSource(
  [word, ...rest]: SchemaPath,
  { hasFailure = false }: TemplateScope,
): ValueSource | { readonly problem: string } {
  const fields = hasFailure ? [...FLOW_FIELDS, ...FAILURE_FIELDS] : FLOW_FIELDS;
  const field = fields.find((known) => known === word);
  if (field !== undefined && rest.length === 0) return { kind: 'flow', field };
  const names = namesOf(fields.map((known) => `flow.${known}`));
  const where = FAILURE_FIELDS.some((known) => known === word) && !hasFailure;
  const remedy = where ? ', which only on_failure has' : '';
  return { problem: `expected ${names}, got ${describeValue(['flow', word, ...rest].join('.'))}${remedy}` };
}

function namesOf(names: readonly string[]): string {
  return `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
}
