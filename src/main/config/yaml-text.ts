/**
 * YAML text → plain value, with the place of every part kept for messages. YAML 1.2, core schema, one
 * document, string keys.
 *
 * Bounded against hostile files: nesting is refused while the text is read, before a tree exists; aliases are
 * shared, not copied, and what they would expand to is counted and refused past a bound.
 */

import type { Alias, Document, Pair, ParsedNode, YAMLMap } from 'yaml';
import type { SchemaPath } from '../../actors/kernel/check-schema.ts';
import type { Place, Places, Spot } from './places.ts';
import { putKey, type RawObject } from './raw-tree.ts';

type Yaml = typeof import('yaml');

/** Levels of nesting; the config's own schema needs fewer than ten. */
const MAX_NESTING = 48;

/** Problems kept of one text. */
const MAX_SAID = 1000;

/** Past so many syntax errors the rest is not read: it is no YAML. */
const MAX_SYNTAX_ERRORS = 100;

/** Two for each of the most tasks that fit into a file. */
const MAX_ALIASES = 20_000;

/** What the lexer of the library gives before the text of a scalar. */
const SCALAR_MARK = '\x1f';

/** Some 10 ms of code that was never run before. */
const LEXEMES_A_STEP = 2000;

/** Nodes that all aliases of a file together stand for. */
const MAX_ALIAS_NODES = 100_000;

export interface YamlText extends Places {
  readonly value: unknown;
  readonly problems: readonly TextProblem[];
  /** False where the text is so wrong that `value` says nothing to rely on. */
  readonly readable: boolean;
}

interface TextProblem extends Place {
  readonly message: string;
}

/** Loaded when a config is read and not before: a daemon that is configured in code never needs it. */
export async function loadYaml(): Promise<Yaml> {
  return await import('yaml');
}

/**
 * Never throws on any text; what is wrong is in `problems`, and `value` is then what could be made of it. Lets others have
 * their turn now and then: a daemon that reloads its config goes on meanwhile.
 */
export async function readYaml(yaml: Yaml, text: string, file: string): Promise<YamlText> {
  const lines = new Lines(text, file);
  const problems: TextProblem[] = [];
  const say = (offset: number, message: string) => {
    if (problems.length < MAX_SAID) problems.push({ ...lines.placeAt(offset), message });
  };
  const steps = composeDocument(yaml, text, say);
  let step = steps.next();
  for (; step.done !== true; step = steps.next()) await new Promise(setImmediate);
  const document = step.value;
  if (document === undefined) return { value: null, problems, readable: false, at: () => lines.placeAt(0) };
  for (const error of document.errors) say(error.pos[0], `expected valid YAML: ${firstLine(error.message)}`);
  for (const { code, pos, message } of document.warnings) {
    if (code === 'TAG_RESOLVE_FAILED') say(pos[0], `expected a value without a tag: ${firstLine(message)}`);
  }
  const converter = new Converter(yaml, say, lines);
  const value = converter.convert(document.contents, 0).value;
  return {
    value,
    problems,
    readable: document.errors.length === 0 && !converter.overflowed,
    at: (path, spot) => lines.placeAt(converter.offsetOf(document, path, spot)),
  };
}

/** One YAML scalar, as the value of a variable is; undefined when the text is anything else. */
export function readScalar(yaml: Yaml, text: string): string | number | boolean | null | undefined {
  if (text.length > 65_536) return undefined;
  const steps = composeDocument(yaml, text, () => {});
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  const document = step.value;
  if (document === undefined || document.errors.length > 0 || document.warnings.length > 0) return undefined;
  const contents = document.contents;
  if (contents === null) return null;
  const value: unknown = yaml.isScalar(contents) ? contents.value : undefined;
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  return typeof value === 'number' ? value : undefined;
}

/** Yields where it has worked for a while. */
function* composeDocument(
  yaml: Yaml,
  text: string,
  say: (offset: number, message: string) => void,
): Generator<void, Document.Parsed | undefined> {
  const parser = new yaml.Parser();
  const composer = new yaml.Composer({
    version: '1.2',
    schema: 'core',
    resolveKnownTags: false,
    stringKeys: true,
    prettyErrors: false,
    // Checked by the converter: the library compares every key of a map with every other.
    uniqueKeys: false,
    logLevel: 'silent',
  });
  const documents: Document.Parsed[] = [];
  let errors = 0;
  let aliases = 0;
  let before = '';
  let lexemes = 0;
  for (const lexeme of new yaml.Lexer().lex(text)) {
    // The text of a scalar comes after a mark of its own, and may begin with * where it is quoted.
    if (lexeme.startsWith('*') && before !== SCALAR_MARK) aliases += 1;
    before = lexeme;
    if (++lexemes % LEXEMES_A_STEP === 0) yield;
    if (aliases > MAX_ALIASES) {
      say(parser.offset, `expected at most ${MAX_ALIASES} aliases, got more`);
      return undefined;
    }
    for (const token of parser.next(lexeme)) {
      if (token.type === 'error') errors += 1;
      documents.push(...composer.next(token));
    }
    if (errors > MAX_SYNTAX_ERRORS) break;
    if (parser.stack.length > MAX_NESTING) {
      say(parser.offset, `expected at most ${MAX_NESTING} levels of nesting, got more`);
      return undefined;
    }
  }
  // The tree is made in one go.
  if (lexemes > LEXEMES_A_STEP) yield;
  for (const token of parser.end()) documents.push(...composer.next(token));
  documents.push(...composer.end(true, text.length));
  const second = documents[1];
  if (second !== undefined) {
    say(
      second.range[0],
      `expected one YAML document, got ${documents.length}; remove what follows the "---"`,
    );
  }
  return documents[0];
}

interface Converted {
  readonly value: unknown;
  /** Nodes it stands for, aliases expanded. */
  readonly nodes: number;
}

class Converter {
  readonly #yaml: Yaml;
  readonly #say: (offset: number, message: string) => void;
  readonly #lines: Lines;
  readonly #anchors = new Map<string, { node: ParsedNode; converted: Converted | undefined }>();
  readonly #targets = new Map<Alias, ParsedNode>();
  #aliasNodes = 0;

  constructor(yaml: Yaml, say: (offset: number, message: string) => void, lines: Lines) {
    this.#yaml = yaml;
    this.#say = say;
    this.#lines = lines;
  }

  /** Whether the aliases stand for more than the bound, and some were left out. */
  get overflowed(): boolean {
    return this.#aliasNodes > MAX_ALIAS_NODES;
  }

  /** Nesting of the tree is bounded by the reader, so the recursion is. */
  convert(node: ParsedNode | null, depth: number): Converted {
    if (node === null) return { value: null, nodes: 1 };
    if (this.#yaml.isAlias(node)) return this.#convertAlias(node);
    const anchor =
      node.anchor === undefined ? undefined : { node, converted: undefined as Converted | undefined };
    if (anchor !== undefined) this.#anchors.set(node.anchor!, anchor);
    let converted: Converted;
    if (this.#yaml.isMap(node)) {
      converted = this.#convertMap(node, depth);
    } else if (this.#yaml.isSeq(node)) {
      const items = node.items.map((item) => this.convert(item as ParsedNode | null, depth + 1));
      const nodes = items.reduce((sum, item) => sum + item.nodes, 1);
      converted = { value: items.map((item) => item.value), nodes };
    } else {
      converted = { value: node.value, nodes: 1 };
    }
    if (anchor !== undefined) anchor.converted = converted;
    return converted;
  }

  offsetOf(document: Document.Parsed, path: SchemaPath, spot: Spot): number {
    let node: ParsedNode | null = document.contents;
    let offset = node?.range[0] ?? 0;
    for (const [depth, step] of path.entries()) {
      if (this.#yaml.isAlias(node)) node = this.#targets.get(node) ?? null;
      if (typeof step === 'number') {
        const item = this.#yaml.isSeq(node) ? (node.items[step] as ParsedNode | undefined) : undefined;
        if (item === undefined) return offset;
        node = item;
        offset = item.range[0];
        continue;
      }
      const pair: Pair<ParsedNode, ParsedNode | null> | undefined = this.#yaml.isMap(node)
        ? (node as YAMLMap.Parsed).items.find((one) => keyOf(one.key) === step)
        : undefined;
      if (pair === undefined) return offset;
      node = pair.value;
      const keyOffset = pair.key.range[0];
      const last = depth === path.length - 1;
      offset = last && spot === 'key' ? keyOffset : (node?.range[0] ?? keyOffset);
    }
    return offset;
  }

  #convertMap(node: YAMLMap.Parsed, depth: number): Converted {
    const value: RawObject = {};
    const keys = new Map<string, number>();
    let nodes = 1;
    for (const pair of node.items) {
      const key = keyOf(pair.key);
      const offset = pair.key?.range[0] ?? node.range[0];
      if (key === undefined) {
        // A key that is no string is an error of the reader already.
        continue;
      }
      const first = keys.get(key);
      if (first !== undefined) {
        const { line } = this.#lines.placeAt(first);
        this.#say(
          offset,
          `the key ${JSON.stringify(key.slice(0, 100))} is given twice; the first is on line ${line}`,
        );
        continue;
      }
      keys.set(key, offset);
      const inner = this.convert(pair.value, depth + 1);
      putKey(value, key, inner.value);
      nodes += inner.nodes;
    }
    return { value, nodes };
  }

  #convertAlias(node: Alias.Parsed): Converted {
    const nothing: Converted = { value: null, nodes: 1 };
    const anchor = this.#anchors.get(node.source);
    if (anchor === undefined) {
      this.#say(node.range[0], `expected an anchor &${node.source} before this alias, got none`);
      return nothing;
    }
    this.#targets.set(node, anchor.node);
    if (anchor.converted === undefined) {
      this.#say(node.range[0], `expected the alias *${node.source} to be outside of what it stands for`);
      return nothing;
    }
    const before = this.#aliasNodes;
    this.#aliasNodes += anchor.converted.nodes;
    if (this.#aliasNodes <= MAX_ALIAS_NODES) return anchor.converted;
    if (before <= MAX_ALIAS_NODES) {
      this.#say(node.range[0], `expected aliases to stand for at most ${MAX_ALIAS_NODES} values, got more`);
    }
    return nothing;
  }
}

/** Offsets → lines and columns. The line starts are found at the first question: a good file asks none. */
class Lines {
  readonly #text: string;
  readonly #file: string;
  #starts: number[] | undefined;

  constructor(text: string, file: string) {
    this.#text = text;
    this.#file = file;
  }

  placeAt(offset: number): Place {
    this.#starts ??= lineStarts(this.#text);
    const starts = this.#starts;
    const bounded = Math.min(Math.max(offset, 0), this.#text.length);
    let low = 0;
    let high = starts.length;
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if (starts[middle]! <= bounded) low = middle;
      else high = middle;
    }
    return { file: this.#file, line: low + 1, column: bounded - starts[low]! + 1 };
  }
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

function keyOf(key: unknown): string | undefined {
  if (key === null) return '';
  const value = typeof key === 'object' && 'value' in key ? key.value : undefined;
  return typeof value === 'string' ? value : undefined;
}

function firstLine(message: string): string {
  const end = message.indexOf('\n');
  return end < 0 ? message : message.slice(0, end);
}
