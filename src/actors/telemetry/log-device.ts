/**
 * The standard output as a device for log lines.
 *
 * A pipe or terminal is opened a second time through /proc with O_NONBLOCK: a reader that stopped reading then
 * gives EAGAIN, where the inherited descriptor would hold a thread of the runtime until the process is killed.
 * The flag must not be set on the inherited description, which other processes share. A regular file keeps
 * the descriptor (its offset is shared with whoever writes to it too); so does a socket, which cannot be
 * opened again.
 */
import * as fs from 'node:fs';
import type { DeviceChunk, LineDevice } from './line-writer.ts';

/** What the devices need of node:fs; a test injects its faults here. */
export type LogFs = Pick<
  typeof fs,
  | 'closeSync'
  | 'fchmodSync'
  | 'fstatSync'
  | 'mkdirSync'
  | 'openSync'
  | 'readdirSync'
  | 'renameSync'
  | 'statSync'
  | 'unlinkSync'
  | 'write'
  | 'writeSync'
>;

export function createDescriptorDevice(fd: number, files: LogFs = fs): LineDevice {
  const own = openAgain(fd, files);
  const target = own ?? fd;
  return {
    write: (chunk, done) => writeChunk(files, target, chunk, done),
    writeSync: (chunk) => files.writeSync(target, chunk.bytes, chunk.offset, chunk.length),
    close() {
      if (own !== null) files.closeSync(own);
    },
  };
}

export function writeChunk(
  files: LogFs,
  fd: number,
  chunk: DeviceChunk,
  done: (error: NodeJS.ErrnoException | null, written: number) => void,
): void {
  files.write(fd, chunk.bytes, chunk.offset, chunk.length, null, (error, written) =>
    done(error, error === null ? written : 0),
  );
}

function openAgain(fd: number, files: LogFs): number | null {
  try {
    const stat = files.fstatSync(fd);
    if (!stat.isFIFO() && !stat.isCharacterDevice()) return null;
    const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = fs.constants;
    return files.openSync(`/proc/self/fd/${fd}`, O_WRONLY | O_NONBLOCK | O_NOCTTY);
  } catch {
    return null;
  }
}
