// The work of `mixed` for Piscina: what colibri's own handlers `hash` and `sleep` do. Each says how long it took, ms.
import { createHash } from 'node:crypto';
import { closeSync, openSync, readSync } from 'node:fs';
import { setTimeout as passed } from 'node:timers/promises';

/** One for all runs of a thread, as colibri has it. */
const buffer = Buffer.allocUnsafeSlow(256 * 1024);

/** SHA-256 of a file. */
export default function hash({ path }) {
  const startMono = performance.now();
  const digest = createHash('sha256');
  const file = openSync(path, 'r');
  try {
    for (;;) {
      const bytes = readSync(file, buffer);
      if (bytes === 0) break;
      digest.update(buffer.subarray(0, bytes));
    }
  } finally {
    closeSync(file);
  }
  digest.digest('hex');
  return performance.now() - startMono;
}

export async function wait({ ms }) {
  const startMono = performance.now();
  await passed(ms);
  return performance.now() - startMono;
}
