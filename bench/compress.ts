/**
 * Rate of `compress` over log-like text in the page cache, on as many threads as cores, beside the usual
 * tools under xargs with as many processes. The handler syncs each output to the disk; the tools do not.
 */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BenchRow, rounded } from './bench-row.ts';
import { type CorpusFile, makeCorpus } from './corpus.ts';
import { openFileRunner, type RunFiles } from './file-runner.ts';
import type { FileBenchOptions } from './hash.ts';
import { isInstalled, runPeer } from './peer-command.ts';
import { alternate, type Contender } from './rounds.ts';

interface Subject {
  readonly algorithm: string;
  readonly level: number;
  /** Given the folder of the outputs. Null: the tool is not there. */
  readonly peer: ((to: string) => readonly string[]) | null;
  readonly peerName: string;
}

const MB = 1e6;

export async function benchCompress(options: FileBenchOptions): Promise<BenchRow[]> {
  const root = mkdtempSync(join(tmpdir(), 'colibri-bench-'));
  const runner = options.run === undefined ? await openFileRunner(availableParallelism()) : undefined;
  try {
    const run = options.run ?? runner!.run;
    const source = join(root, 'in');
    mkdirSync(source);
    const [count, mib] = options.quick ? [4, 2] : [16, 8];
    const files = makeCorpus({ root: source, count, bytes: mib * 1024 * 1024, content: 'text' });
    const rows: BenchRow[] = [];
    for (const subject of subjects()) {
      rows.push(...(await compare({ root, files, run, subject, rounds: options.quick ? 2 : 7 })));
    }
    return rows;
  } finally {
    await runner?.close();
    rmSync(root, { recursive: true, force: true });
  }
}

function subjects(): Subject[] {
  // gzip has no option for where the output goes: it lands beside the source, and a shell would cost more.
  return [
    {
      algorithm: 'zstd',
      level: 3,
      peerName: 'zstd -3 -T1',
      peer: isInstalled('zstd') ? (to) => ['zstd', '-3', '-T1', '-q', '-f', '--output-dir-flat', to] : null,
    },
    {
      algorithm: 'gzip',
      level: 6,
      peerName: 'gzip -6',
      peer: isInstalled('gzip') ? () => ['gzip', '-6', '-k', '-f'] : null,
    },
    {
      algorithm: 'brotli',
      level: 4,
      peerName: 'brotli -4',
      peer: isInstalled('brotli') ? () => ['brotli', '-4', '-k', '-f'] : null,
    },
  ];
}

interface Comparison {
  readonly root: string;
  readonly files: readonly CorpusFile[];
  readonly run: RunFiles;
  readonly subject: Subject;
  readonly rounds: number;
}

async function compare(comparison: Comparison): Promise<BenchRow[]> {
  const { root, files, run, subject, rounds } = comparison;
  const { algorithm, level, peer, peerName } = subject;
  const ownTo = join(root, 'colibri');
  const peerTo = join(root, 'peer');
  const sourceFolder = join(root, 'in');
  const sizes = new Map<string, number>();
  const contenders: Contender[] = [
    {
      name: 'colibri',
      run: () => run(files, 'compress', { algorithm, level, to: ownTo }),
      reset() {
        sizes.set('colibri', outputBytes(ownTo));
        rmSync(ownTo, { recursive: true });
      },
    },
  ];
  mkdirSync(peerTo, { recursive: true });
  if (peer !== null) {
    contenders.push({
      name: peerName,
      run: () => runPeer(peer(peerTo), files),
      reset() {
        sizes.set(peerName, outputBytes(peerTo) + outputBytes(sourceFolder));
        for (const folder of [peerTo, sourceFolder]) removeOutputs(folder);
      },
    });
  }
  const seconds = await alternate(contenders, rounds);
  const inputBytes = files.reduce((sum, { size }) => sum + size, 0);
  return contenders.flatMap(({ name }) => {
    const label = `${algorithm} -${level}: ${name}`;
    const peerRatio =
      name === 'colibri'
        ? {}
        : { ratio: rounded(seconds.get(name)! / seconds.get('colibri')!), note: 'ratio: colibri over this' };
    return [
      { name: label, unit: 'MB/s', value: rounded(inputBytes / MB / seconds.get(name)!), ...peerRatio },
      { name: `${label}, input over output`, unit: 'x', value: rounded(inputBytes / sizes.get(name)!) },
    ];
  });
}

function outputs(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => /\.(zst|gz|br)$/.test(name))
    .map((name) => join(folder, name));
}

function outputBytes(folder: string): number {
  return outputs(folder).reduce((sum, path) => sum + statSync(path).size, 0);
}

function removeOutputs(folder: string): void {
  for (const path of outputs(folder)) rmSync(path);
}
