/**
 * Templates in the `with:` of a step: parsed once when the config is loaded, filled for each run. A value that is one template
 * keeps the type of what it stands for; within a text it is written out, lists and objects as JSON. What is filled in is never
 * looked at for templates again, so data cannot name other data.
 *
 * Always holds: own properties only, no code, at most `MAX_TEMPLATE_DEPTH` levels and `MAX_FILLED_LENGTH` of output. Pure.
 */
import { describeValue, type SchemaPath } from '../kernel/check-schema.ts';
import { ColibriError } from '../kernel/errors.ts';
import { KEEP_MORE } from '../results/result-reference.ts';
import { describeLack, valueAtPath, valuePathText } from '../results/value-path.ts';
import type { FlowProblem } from './flow-problem.ts';
import {
  type FailureField,
  type FlowField,
  hasTemplate,
  parseTemplateText,
  type TemplateScope,
  type TextPart,
  type ValueSource,
} from './template-text.ts';

/** Levels of a `with:` that are looked at. */
export const MAX_TEMPLATE_DEPTH = 32;
/** Of the data in one input as JSON text, in UTF-16 code units: as for the payload of a trigger. What names a run does not count. */
export const MAX_FILLED_LENGTH = 256 * 1024;

/** JSON text and places to fill, in order: an input is made by joining them. Neighbouring texts are one. */
export interface Template {
  readonly pieces: readonly Piece[];
}

type DataSource = Extract<ValueSource, { readonly path: SchemaPath }>;

/** `whole`: a value that keeps its type; `inside`: parts of one JSON string. */
type Piece =
  | { readonly json: string }
  | { readonly whole: ValueSource }
  | { readonly inside: readonly TextPart[] };

export interface ParsedTemplate {
  readonly template: Template;
  readonly problems: readonly FlowProblem[];
  /** Paths of what only a run knows: until then the schema of a handler has nothing to say of it. */
  readonly open: readonly SchemaPath[];
}

export type FlowValues = Readonly<Record<FlowField, string>> &
  Readonly<Partial<Record<FailureField, string | null>>>;

/** What templates are filled from. Values are plain data, as `JSON.parse` makes it. */
export interface TemplateValues {
  readonly payload: unknown;
  /** Of a step with `each`; else undefined. */
  readonly item?: unknown;
  readonly flow: FlowValues;
  /** Undefined: the step has no result; null is one. */
  resultOf(step: string): unknown;
  /** Which run has that result. Null: it has none. */
  runOf?(step: string): string | null;
  /** A result that is not there is null, and all within it. */
  readonly mayLack?: boolean;
  /** Whatever is not there is null, in a text nothing. */
  readonly isLenient?: boolean;
  /** What was read of a result in a file; undefined: what `resultOf` gives has all that is needed. */
  partOf?(source: ValueSource): unknown;
}

/** `value`: plain data as the config has it. The template may be filled only if there are no problems. */
export function parseTemplate(value: unknown, scope: TemplateScope): ParsedTemplate {
  const parser = new TemplateParser(scope);
  parser.add(value, []);
  const { pieces, problems, open } = parser;
  return { template: { pieces }, problems, open };
}

/** Whether it is the same for every run. */
export function isConstant({ pieces }: Template): boolean {
  return pieces.every((piece) => 'json' in piece);
}

/** All that it is filled from. */
export function sourcesOf({ pieces }: Template): readonly ValueSource[] {
  return pieces.flatMap((piece) => {
    if ('whole' in piece) return [piece.whole];
    return 'inside' in piece ? piece.inside.flatMap((part) => ('source' in part ? [part.source] : [])) : [];
  });
}

class TemplateParser {
  readonly pieces: Piece[] = [];
  readonly problems: FlowProblem[] = [];
  readonly open: SchemaPath[] = [];
  readonly #scope: TemplateScope;

  constructor(scope: TemplateScope) {
    this.#scope = scope;
  }

  add(value: unknown, path: SchemaPath): void {
    if (path.length > MAX_TEMPLATE_DEPTH) {
      const message = `expected at most ${MAX_TEMPLATE_DEPTH} levels of nesting, got more`;
      this.problems.push({ path, message });
    } else if (typeof value === 'string') this.#addText(value, path);
    else if (Array.isArray(value)) this.#addList(value, path);
    else if (typeof value === 'object' && value !== null) this.#addObject(value, path);
    else this.#json(JSON.stringify(value) ?? 'null');
  }

  #addText(text: string, path: SchemaPath): void {
    if (!hasTemplate(text)) return this.#json(JSON.stringify(text));
    const parsed = parseTemplateText(text, this.#scope);
    if ('problem' in parsed) {
      this.problems.push({ path, message: parsed.problem });
      this.open.push(path);
      return;
    }
    const { parts } = parsed;
    if (parts.every((part) => 'text' in part)) {
      return this.#json(JSON.stringify(parts.map(({ text }) => text).join('')));
    }
    this.open.push(path);
    const [only] = parts;
    if (parts.length === 1 && only !== undefined && 'source' in only)
      this.pieces.push({ whole: only.source });
    else this.pieces.push({ inside: parts });
  }

  #addList(list: readonly unknown[], path: SchemaPath): void {
    this.#json('[');
    for (const [index, entry] of list.entries()) {
      if (index > 0) this.#json(',');
      this.add(entry, [...path, index]);
    }
    this.#json(']');
  }

  #addObject(object: object, path: SchemaPath): void {
    this.#json('{');
    let first = true;
    for (const [key, value] of Object.entries(object)) {
      if (value === undefined) continue;
      const inner = [...path, key];
      if (hasTemplate(key)) {
        this.problems.push({
          path: inner,
          message: 'expected a key without {{ }}, got one; only values are filled in',
        });
      }
      this.#json(`${first ? '' : ','}${JSON.stringify(key)}:`);
      this.add(value, inner);
      first = false;
    }
    this.#json('}');
  }

  #json(json: string): void {
    const last = this.pieces.at(-1);
    if (last !== undefined && 'json' in last)
      this.pieces[this.pieces.length - 1] = { json: last.json + json };
    else this.pieces.push({ json });
  }
}

/** The input as JSON text. Throws `input-invalid` where a value is not there, or it gets too large. */
export function fillTemplate({ pieces }: Template, values: TemplateValues): string {
  let filled = '';
  let uncounted = 0;
  for (const piece of pieces) {
    const before = filled.length;
    if ('json' in piece) filled += piece.json;
    else if ('whole' in piece) filled += JSON.stringify(lookUp(piece.whole, values));
    else filled += JSON.stringify(textOf(piece.inside, values));
    if (!isData(piece)) uncounted += filled.length - before;
    if (filled.length - uncounted > MAX_FILLED_LENGTH) throw tooLong();
  }
  return filled;
}

/** As long as its data is; the others are as long as the config and the names in it. */
function isData(piece: Piece): boolean {
  return 'inside' in piece || ('whole' in piece && !namesRun(piece.whole));
}

function namesRun({ kind }: ValueSource): boolean {
  return kind === 'flow' || kind === 'run';
}

/** The text of `concurrency_key` and its like, not as JSON. Throws as `fillTemplate` does. */
export function fillText(parts: readonly TextPart[], values: TemplateValues): string {
  return textOf(parts, values);
}

/** The list that an `each:` step runs over. Throws `input-invalid`: it is not there, or is no list. */
export function listOf(source: ValueSource, values: TemplateValues): readonly unknown[] {
  const value = lookUp(source, values);
  if (Array.isArray(value)) return value;
  throw new ColibriError(
    'input-invalid',
    `expected a list at ${sourceText(source)}, got ${describeValue(value)}`,
  );
}

function textOf(parts: readonly TextPart[], values: TemplateValues): string {
  let text = '';
  for (const part of parts) {
    if ('text' in part) text += part.text;
    else {
      const value = lookUp(part.source, values);
      if (value === null && values.isLenient === true) continue;
      text += typeof value === 'string' ? value : JSON.stringify(value);
    }
    if (text.length > MAX_FILLED_LENGTH) throw tooLong();
  }
  return text;
}

function lookUp(source: ValueSource, values: TemplateValues): unknown {
  if (source.kind === 'flow') return values.flow[source.field] ?? null;
  if (source.kind === 'run') return runOf(source, values);
  const part = source.kind === 'step' ? values.partOf?.(source) : undefined;
  if (part !== undefined) return part;
  const root = rootOf(source, values);
  if (root === undefined && source.kind === 'step') {
    if (values.runOf?.(source.step) != null && values.isLenient !== true) throw forgotten(source.step);
    if (values.mayLack === true) return null;
  }
  const { value, found } = valueAtPath(root, source.path);
  if (value !== undefined) return value;
  if (values.isLenient === true) return null;
  throw notThere(source, found, root === undefined ? null : describeLack(root, source.path, found));
}

function runOf(source: Extract<ValueSource, { kind: 'run' }>, values: TemplateValues): string | null {
  const run = values.runOf?.(source.step) ?? null;
  if (run !== null || values.mayLack === true) return run;
  throw new ColibriError(
    'input-invalid',
    `expected a value at ${sourceText(source)}, got a step without a result`,
  );
}

/** The step has succeeded, so it is no step without a result. */
export function forgotten(step: string): ColibriError {
  return new ColibriError(
    'input-invalid',
    `expected the result of step ${step}, got one that is forgotten; run the flow again from there, or ${KEEP_MORE}`,
  );
}

/** `got`: what is at the last step of the way that there is; null: not even its beginning is. */
export function notThere(source: DataSource, found: number, got: string | null): ColibriError {
  const there = sourceText({ ...source, path: source.path.slice(0, found) });
  const what = got === null ? `no ${there}` : `${got} at ${there}`;
  return new ColibriError('input-invalid', `expected a value at ${sourceText(source)}, got ${what}`);
}

function rootOf(source: DataSource, values: TemplateValues): unknown {
  switch (source.kind) {
    case 'payload':
      return values.payload;
    case 'item':
      return values.item;
    case 'step':
      return values.resultOf(source.step);
  }
}

/** As it is written between the braces. */
export function sourceText(source: ValueSource): string {
  switch (source.kind) {
    case 'flow':
      return `flow.${source.field}`;
    case 'run':
      return valuePathText(['steps', source.step, 'run']);
    case 'step':
      return valuePathText(['steps', source.step, 'result', ...source.path]);
    default:
      return valuePathText([source.kind, ...source.path]);
  }
}

export function tooLong(): ColibriError {
  return new ColibriError(
    'input-invalid',
    `expected at most ${MAX_FILLED_LENGTH} characters of data in an input, got more; pass a path in place of data`,
  );
}
