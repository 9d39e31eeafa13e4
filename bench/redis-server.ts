/** A Redis of the benchmark's own: on a Unix socket in a folder of its own, with an append-only file, ended with it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isInstalled } from './peer-command.ts';

/** How often the append-only file is synced: once a second, or before each answer. */
export type AppendFsync = 'everysec' | 'always';

const PROGRAM = 'redis-server';
const READY_LIMIT_MS = 10_000;
const LOOK_MS = 20;

export function isRedisInstalled(): boolean {
  if (isInstalled(PROGRAM)) return true;
  console.log(`  (without Redis: expected ${PROGRAM} on the PATH, got none; apt-get install redis-server)`);
  return false;
}

export class RedisServer {
  readonly socketPath: string;
  readonly #child: ChildProcess;
  readonly #dir: string;

  private constructor(child: ChildProcess, dir: string, socketPath: string) {
    this.#child = child;
    this.#dir = dir;
    this.socketPath = socketPath;
  }

  /** Resolves when it answers. */
  static async start(appendfsync: AppendFsync): Promise<RedisServer> {
    const dir = mkdtempSync(join(tmpdir(), 'colibri-bench-redis-'));
    const socketPath = join(dir, 'redis.sock');
    const settings: Readonly<Record<string, string>> = {
      port: '0',
      unixsocket: socketPath,
      dir,
      save: '',
      appendonly: 'yes',
      appendfsync,
      logfile: join(dir, 'redis.log'),
    };
    const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
    const server = new RedisServer(spawn(PROGRAM, args, { stdio: 'ignore' }), dir, socketPath);
    const endMono = performance.now() + READY_LIMIT_MS;
    while (!(await answers(socketPath))) {
      if (performance.now() < endMono && server.#child.exitCode === null) await sleep(LOOK_MS);
      else {
        await server.stop();
        throw new Error(`expected ${PROGRAM} to answer within ${READY_LIMIT_MS} ms, got nothing`);
      }
    }
    return server;
  }

  get pid(): number {
    return this.#child.pid!;
  }

  /** Idempotent. */
  async stop(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const exited = once(this.#child, 'exit');
      this.#child.kill('SIGTERM');
      await exited;
    }
    rmSync(this.#dir, { recursive: true, force: true });
  }
}

function answers(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(socketPath, () => socket.end('PING\r\n'));
    socket.once('data', (data) => resolve(String(data).startsWith('+PONG')));
    socket.once('error', () => resolve(false));
    socket.once('close', () => resolve(false));
  });
}
