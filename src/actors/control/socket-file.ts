/**
 * The file of the control socket. It appears with mode 0600 at once: it is bound in a folder that only the
 * owner can enter, given its mode there, and renamed into place (a thread cannot change the umask). A socket
 * that a dead daemon left is replaced, but only after it has refused a connection.
 *
 * The address of a socket holds 107 bytes. For a longer path the folder is opened and reached through
 * `/proc/self/fd/N/`, which is short.
 */
import {
  chmodSync,
  closeSync,
  lstatSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
  unlinkSync,
} from 'node:fs';
import type { Server } from 'node:http';
import { basename, dirname, join } from 'node:path';
import { ColibriError } from '../kernel/index.ts';

const MAX_ADDRESS_BYTES = 107;
const PROBE_MS = 1000;

export interface BoundSocket {
  /** Takes the file away, if it is still ours. */
  remove(): void;
}

/** Rejects with `state-dir-held` where somebody answers on the path, with `listen-failed` on everything else. */
export async function bindSocket(server: Server, path: string): Promise<BoundSocket> {
  await refuseIfAnswered(path);
  let folder: string | null = null;
  try {
    folder = mkdtempSync(join(dirname(path), '.control-'));
    const fresh = join(folder, 's');
    await withSocketAddress(fresh, (address) => listen(server, address));
    chmodSync(fresh, 0o600);
    const { ino } = lstatSync(fresh);
    renameSync(fresh, path);
    return { remove: () => removeIfOurs(path, ino) };
  } catch (error) {
    server.close();
    throw listenFailed(path, error);
  } finally {
    if (folder !== null) rmSync(folder, { recursive: true, force: true });
  }
}

/** Calls with an address for the path that is short enough, whatever the length of the path. */
export async function withSocketAddress<T>(path: string, use: (address: string) => Promise<T>): Promise<T> {
  if (Buffer.byteLength(path) <= MAX_ADDRESS_BYTES) return use(path);
  const fd = openSync(dirname(path), 'r');
  try {
    return await use(`/proc/self/fd/${fd}/${basename(path)}`);
  } finally {
    closeSync(fd);
  }
}

/** Rejects as `bindSocket` does, before there is anything to bind. */
export async function refuseIfAnswered(path: string): Promise<void> {
  let isSocket: boolean;
  try {
    isSocket = lstatSync(path).isSocket();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw listenFailed(path, error);
  }
  if (!isSocket) {
    throw new ColibriError(
      'listen-failed',
      `${path}: expected a socket or nothing, got another kind of file; move it away, or set state_dir to another folder`,
    );
  }
  if (await answers(path)) {
    throw new ColibriError(
      'state-dir-held',
      `${path}: expected no daemon on the control socket, got an answer; stop it, or set state_dir to another folder`,
    );
  }
}

/** True where something accepts a connection, or may do so: only a refusal says that nobody is there. */
function answers(path: string): Promise<boolean> {
  return withSocketAddress(path, (address) => {
    return new Promise<boolean>((resolve) => {
      const socket = process.getBuiltinModule('node:net').connect(address);
      const done = (result: boolean): void => {
        socket.destroy();
        resolve(result);
      };
      socket.setTimeout(PROBE_MS, () => done(true));
      socket.on('connect', () => done(true));
      socket.on('error', (error: NodeJS.ErrnoException) => {
        done(error.code !== 'ECONNREFUSED' && error.code !== 'ENOENT');
      });
    });
  });
}

function listen(server: Server, address: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ path: address }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function removeIfOurs(path: string, inode: number): void {
  try {
    if (lstatSync(path).ino === inode) unlinkSync(path);
  } catch {
    // Gone already: what was wanted.
  }
}

function listenFailed(path: string, error: unknown): ColibriError {
  if (error instanceof ColibriError) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  return new ColibriError(
    'listen-failed',
    `${path}: expected to listen on the control socket, got ${code ?? message}; state_dir must be a folder of a local ` +
      'file system that this user can write to',
    { cause: error },
  );
}
