/**
 * What the start of a daemon does before it reads the config: the service thread takes as long to come up as all the
 * rest, and does so on another core. It is told what it is for once that is known.
 *
 * The allocator is set first: a malloc arena that a thread has made stays.
 */
import type { Worker, WorkerOptions } from 'node:worker_threads';
import { HEAP_BYTES } from '../actors/kernel/index.ts';
import { ThreadName } from '../actors/protocol.ts';
import { startThread } from '../workers/threads/thread-files.ts';
import { loadNativeMemory, type NativeMemoryResult } from './memory/native-memory.ts';

/**
 * Of each thread with actors. Below 2 GB, V8 does not map its built-in code once more for the thread, which would be
 * 2 MB of resident pages.
 */
export const HOST_LIMITS = { maxOldGenerationSizeMb: HEAP_BYTES / 2 ** 20 };

export interface EarlyStart {
  readonly native: NativeMemoryResult;
  /** The service thread, the first time; null where it was taken or has ended. */
  takeService(options: WorkerOptions): Worker | null;
  /** Ends it where it was not taken: there will be no daemon. */
  abandon(): void;
}

export function startEarly(): EarlyStart {
  const native = loadNativeMemory();
  if ('native' in native) native.native.tuneAllocator();
  let service: Worker | null = startThread('host', {
    name: ThreadName.Service,
    resourceLimits: HOST_LIMITS,
    workerData: null,
  });
  const forget = (): void => {
    service = null;
  };
  // Without a listener its error would be this thread's; the next thread in its place has the same one.
  service.on('error', forget).on('exit', forget);
  return {
    native,
    takeService(options) {
      const taken = service;
      taken?.off('error', forget).off('exit', forget).postMessage(options.workerData);
      service = null;
      return taken;
    },
    abandon() {
      void service?.terminate();
    },
  };
}
