/** The command-line tools that file work is compared with, under xargs with as many processes as cores. */
import { spawn, spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import type { CorpusFile } from './corpus.ts';

export function isInstalled(tool: string): boolean {
  return spawnSync(tool, ['--version'], { stdio: 'ignore' }).error === undefined;
}

/**
 * `argv` over all files under `xargs -P`, an equal share a process, so that starting processes costs the peer next to
 * nothing. Rejects where one fails.
 */
export function runPeer(argv: readonly string[], files: readonly CorpusFile[]): Promise<void> {
  const share = Math.ceil(files.length / availableParallelism());
  const child = spawn('xargs', ['-0', `-n${share}`, `-P${availableParallelism()}`, ...argv], {
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  child.stdin.end(files.map(({ path }) => path).join('\0'));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve();
      else reject(new Error(`expected ${argv.join(' ')} to end with 0, got ${code}`));
    });
  });
}
