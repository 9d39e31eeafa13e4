/**
 * Rate of `hash` over files in the page cache, on as many threads as cores, beside `openssl dgst` and
 * `sha256sum` under xargs with as many processes.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BenchRow, rounded } from './bench-row.ts';
import { makeCorpus } from './corpus.ts';
import { openFileRunner, type RunFiles } from './file-runner.ts';
import { isInstalled, runPeer } from './peer-command.ts';
import { alternate, type Contender } from './rounds.ts';

export interface FileBenchOptions {
  /** A sixteenth of the bytes and fewer rounds: a smoke test, no figures to quote. */
  readonly quick: boolean;
  /** How handlers are run; bare threads by default. */
  readonly run?: RunFiles;
}

const MB = 1e6;

export async function benchHash(options: FileBenchOptions): Promise<BenchRow[]> {
  const root = mkdtempSync(join(tmpdir(), 'colibri-bench-'));
  const runner = options.run === undefined ? await openFileRunner(availableParallelism()) : undefined;
  try {
    const run = options.run ?? runner!.run;
    const count = options.quick ? 16 : 64;
    const bytes = (options.quick ? 4 : 16) * 1024 * 1024;
    const files = makeCorpus({ root, count, bytes, content: 'noise' });
    const contenders: Contender[] = [
      { name: 'colibri', run: () => run(files, 'hash', { algorithm: 'sha256' }) },
    ];
    if (isInstalled('openssl')) {
      contenders.push({
        name: 'openssl dgst -sha256',
        run: () => runPeer(['openssl', 'dgst', '-sha256'], files),
      });
    }
    if (isInstalled('sha256sum'))
      contenders.push({ name: 'sha256sum', run: () => runPeer(['sha256sum'], files) });
    const seconds = await alternate(contenders, options.quick ? 2 : 7);
    const own = seconds.get('colibri')!;
    return contenders.map(({ name }) => ({
      name: `sha256 of ${count} files × ${bytes / 1024 / 1024} MiB: ${name}`,
      unit: 'MB/s',
      value: rounded((count * bytes) / MB / seconds.get(name)!),
      ...(name === 'colibri'
        ? {}
        : { ratio: rounded(seconds.get(name)! / own), note: 'ratio: colibri over this' }),
    }));
  } finally {
    await runner?.close();
    rmSync(root, { recursive: true, force: true });
  }
}
