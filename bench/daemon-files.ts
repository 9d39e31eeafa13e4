/** The file benchmarks through a whole daemon: each file is a run, triggered with its path. */
import { startBenchDaemon } from './bench-daemon.ts';
import type { BenchRow } from './bench-row.ts';
import { benchCompress } from './compress.ts';
import type { RunFiles } from './file-runner.ts';
import { benchHash } from './hash.ts';

export async function benchHashInDaemon(options: { readonly quick: boolean }): Promise<BenchRow[]> {
  return throughDaemon((run) => benchHash({ ...options, run }));
}

export async function benchCompressInDaemon(options: { readonly quick: boolean }): Promise<BenchRow[]> {
  return throughDaemon((run) => benchCompress({ ...options, run }));
}

async function throughDaemon(bench: (run: RunFiles) => Promise<BenchRow[]>): Promise<BenchRow[]> {
  const { daemon, close } = await startBenchDaemon({
    defaults: { timeout_seconds: 600, max_retry: 0 },
    shutdown: { grace_seconds: 10 },
    tasks: (['hash', 'compress', 'decompress'] as const).map((handler) => ({
      name: handler,
      kind: 'cpu',
      handler,
      overlap: 'allow',
      ...(handler === 'hash' ? {} : { with: { to: './out' } }),
    })),
  });
  try {
    return await bench(async (files, handler, withOptions) => {
      await Promise.all(
        files.map(async (file) => {
          const payload = JSON.stringify({ ...withOptions, ...file });
          const { ended } = await daemon.runs.ask(
            'trigger',
            { task: handler, payload, force: false, wait: true, dueAtMs: null },
            { timeoutMs: null },
          );
          if (ended?.state !== 'success')
            throw new Error(`${handler} of ${file.path}: ${ended?.error?.message}`);
        }),
      );
    });
  } finally {
    await close();
  }
}
