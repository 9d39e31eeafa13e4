/**
 * What threads start from: the file of that name beside this one. Where the program is built, `thread-parts.ts` takes
 * the place of this file.
 */
import { fileURLToPath } from 'node:url';
import { Worker, type WorkerOptions } from 'node:worker_threads';
import { quietly } from './quiet-worker.ts';

export type ThreadFile = 'host' | 'cpu-worker';

/** What can be imported by this text on a thread of that kind. */
export function threadFile(name: ThreadFile): string {
  return fileURLToPath(new URL(`./${name}.ts`, import.meta.url));
}

export function startThread(name: ThreadFile, options: WorkerOptions): Worker {
  return quietly((quiet) => new Worker(threadFile(name), quiet), options);
}

/** Imports a user's module. */
export function importModule(url: string): Promise<unknown> {
  return import(url);
}
