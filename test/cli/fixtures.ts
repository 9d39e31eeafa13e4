/** The command line without a process: what it prints, and the code it would end with. */
import { dirname } from 'node:path';
import { ColibriError } from '../../src/actors/kernel/index.ts';
import { type CliDeps, type CliIo, main } from '../../src/main/cli/index.ts';
import type { Config } from '../../src/main/config/config.ts';

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface CliRig {
  /** What stands in for the terminal; changed by a test. */
  isTTY: boolean;
  columns: number;
  env: Record<string, string>;
  stdin: string;
  nowMs: number;
  deps: Partial<CliDeps>;
  readonly loaded: string[];
  interrupt(): void;
  /** Resolves once the command listens for Ctrl-C. */
  readonly interruptible: Promise<void>;
  run(...argv: string[]): Promise<Ran>;
}

export const NOW = Date.UTC(2026, 0, 1, 12);

/** `socketPath`: where the daemon of the config listens. */
export function cliRig(socketPath = '/nowhere/control.sock'): CliRig {
  const store = { kind: 'sqlite' };
  const config = { stateDir: dirname(socketPath), tasks: [{}, {}], flows: [], store } as unknown as Config;
  let onInterrupt: (() => void) | null = null;
  const interruptible = Promise.withResolvers<void>();
  const made: CliRig = {
    isTTY: false,
    columns: 80,
    env: {},
    stdin: '',
    nowMs: NOW,
    deps: {},
    loaded: [],
    interrupt: () => onInterrupt?.(),
    interruptible: interruptible.promise,
    async run(...argv) {
      let out = '';
      let err = '';
      const io: CliIo = {
        stdout: { write: (text) => (out += text) },
        stderr: { write: (text) => (err += text) },
        stdin: (async function* () {
          yield made.stdin;
        })(),
        env: made.env,
        cwd: '/work dir',
        isTTY: made.isTTY,
        columns: made.columns,
        nowMs: () => made.nowMs,
        onInterrupt(callback) {
          onInterrupt = callback;
          interruptible.resolve();
          return () => {
            onInterrupt = null;
          };
        },
      };
      const deps: CliDeps = {
        version: '1.2.3',
        findConfigFile: async (cwd) => `${cwd}/colibri.yaml`,
        loadConfig: async (file) => {
          made.loaded.push(file);
          return { config, warnings: [] };
        },
        sizeOf: async () => {
          throw new ColibriError('internal', 'expected no ledger to be computed');
        },
        previewOf: async () => null,
        stateDirOf: async () => dirname(socketPath),
        loadFlows: () => import('../../src/main/flows-part.ts'),
        formatProblem: ({ file, line, column, message }) => `${file}:${line}:${column}: ${message}`,
        runDaemon: async () => {
          throw new ColibriError('internal', 'expected no daemon to be started');
        },
        ...made.deps,
      };
      const code = await main(argv, io, deps);
      return { code, out, err };
    },
  };
  return made;
}
