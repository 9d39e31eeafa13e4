/** What threads start from where there are parts and no files. The build puts it in the place of `thread-files.ts`. */
import { Worker, type WorkerOptions } from 'node:worker_threads';
import type { Parts } from './parts.ts';
import { quietly } from './quiet-worker.ts';
import type { ThreadFile } from './thread-files.ts';

declare const require: (id: 'colibri:parts') => Parts;

export function threadFile(name: ThreadFile): string {
  return `colibri:${name}`;
}

export function startThread(name: ThreadFile, options: WorkerOptions): Worker {
  const code = require('colibri:parts').threadCode(name);
  return quietly((quiet) => new Worker(code, { ...quiet, eval: true }), options);
}

export function importModule(url: string): Promise<unknown> {
  return require('colibri:parts').importModule(url);
}
