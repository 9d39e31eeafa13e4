/** A small list of built-in handlers, and short ways to load a text. */
import {
  ConfigInvalid,
  formatProblem,
  type LoadedConfig,
  parseConfigText,
  type TextOptions,
} from '../../src/main/config/index.ts';
import { parseCron } from '../../src/main/schedule/parse/index.ts';
import type { BuiltInHandler } from '../../src/workers/handler.ts';

const nothing = () => null;

export const builtIns: readonly BuiltInHandler[] = [
  {
    name: 'hash',
    kind: 'cpu',
    summary: 'hashes a file',
    inputSchema: {
      type: 'object',
      additionalProperties: false,
      properties: {
        algorithm: { enum: ['sha256', 'sha512', 'sha1'], default: 'sha256' },
        manifest: { type: 'string' },
        path: { type: 'string' },
      },
    },
    perFile: true,
    pathKeys: ['manifest', 'path'],
    handle: nothing,
  },
  {
    name: 'command',
    kind: 'io',
    summary: 'runs a command',
    inputSchema: {
      type: 'object',
      additionalProperties: false,
      required: ['argv'],
      properties: {
        argv: { type: 'array', minItems: 1, items: { type: 'string' } },
        cwd: { type: 'string' },
      },
    },
    perFile: false,
    pathKeys: ['cwd'],
    handle: nothing,
  },
  {
    name: 'sleep',
    kind: 'io',
    summary: 'waits',
    inputSchema: {
      type: 'object',
      additionalProperties: false,
      required: ['ms'],
      properties: { ms: { type: 'number', minimum: 0 } },
    },
    perFile: false,
    pathKeys: [],
    handle: nothing,
  },
  {
    name: 'noop',
    kind: 'io',
    summary: '',
    inputSchema: { type: 'object' },
    perFile: false,
    pathKeys: [],
    handle: nothing,
  },
];

export const textOptions: TextOptions = { file: '/etc/app/c.yaml', env: {}, cores: 4, builtIns, parseCron };

export async function load(text: string, more: Partial<TextOptions> = {}): Promise<LoadedConfig> {
  return await parseConfigText(text, { ...textOptions, ...more });
}

/** The problems of a text as lines without the folder; empty when it loads. */
export async function problemsOf(text: string, more: Partial<TextOptions> = {}): Promise<readonly string[]> {
  try {
    await load(text, more);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigInvalid)) throw error;
    return error.problems.map(formatProblem).map((line) => line.replaceAll('/etc/app/', ''));
  }
}

export async function warningsOf(text: string, more: Partial<TextOptions> = {}): Promise<readonly string[]> {
  const { warnings } = await load(text, more);
  return warnings.map(formatProblem).map((line) => line.replaceAll('/etc/app/', ''));
}
