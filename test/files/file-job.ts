/** Runs the file handlers as a thread does, with a context that a test can abort at a chosen look. */
import { spawnSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Handler, HandlerContext } from '../../src/workers/handler.ts';
import type { CompressResult } from '../../src/workers/handlers/compress.ts';
import { createFileHandlers } from '../../src/workers/handlers/file-handlers.ts';
import type { HashResult } from '../../src/workers/handlers/hash.ts';

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

export interface FakeContextOptions {
  readonly run?: string;
  /** Called at each look at `aborted`; true: the run is told to stop. */
  readonly onLook?: (look: number) => boolean;
  readonly onProgress?: (fraction: number) => void;
}

export function fakeContext(options: FakeContextOptions = {}): HandlerContext {
  const controller = new AbortController();
  let looks = 0;
  return {
    run: options.run ?? 'run-1',
    task: 'task',
    attempt: 1,
    signal: controller.signal,
    get aborted() {
      looks += 1;
      if (options.onLook?.(looks) === true) controller.abort(new Error('told to stop'));
      return controller.signal.aborted;
    },
    log: SILENT,
    progress: (fraction) => options.onProgress?.(fraction),
  };
}

export interface FileHandlers {
  hash(input: object, context?: HandlerContext): HashResult;
  compress(input: object, context?: HandlerContext): CompressResult;
  decompress(input: object, context?: HandlerContext): CompressResult;
}

/** One set, as one thread has it. */
export function fileHandlers(): FileHandlers {
  const handlers = createFileHandlers();
  const run = (name: string, input: object, context: HandlerContext): unknown =>
    (handlers.find((handler) => handler.name === name)!.handle as Handler)(input, context);
  return {
    hash: (input, context = fakeContext()) => run('hash', input, context) as HashResult,
    compress: (input, context = fakeContext()) => run('compress', input, context) as CompressResult,
    decompress: (input, context = fakeContext()) => run('decompress', input, context) as CompressResult,
  };
}

/** What a scan says about a file, as far as handlers look at it. */
export function scanned(root: string, path: string): { path: string; relative: string; root: string } {
  return { path, relative: relative(root, path), root };
}

export function hasTool(tool: string): boolean {
  return spawnSync(tool, ['--version'], { stdio: 'ignore' }).error === undefined;
}

/** Runs a tool in a folder; its status and everything it said. */
export function runTool(
  cwd: string,
  tool: string,
  ...args: string[]
): { status: number | null; text: string } {
  const { status, stdout, stderr } = spawnSync(tool, args, {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, LC_ALL: 'C' },
  });
  return { status, text: stdout + stderr };
}

/** Paths of all files below a folder, relative to it, sorted. */
export function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => !statSync(join(folder, name)).isDirectory())
    .sort();
}
