/**
 * The state directory and its lock: one daemon a directory. The lock file names its holder by process id,
 * start time and boot, so that a crash, a reboot or a reused process id never keeps a directory locked.
 *
 * Of any number of starters at most one gets it, wherever each of them stands in between:
 * - the lock appears whole: it is written under another name and then linked
 * - a lock goes away by being renamed first and looked at then, so that what is deleted is what was judged; one
 *   that turns out to be held is linked back
 * - whoever has linked the lock looks at those that stand renamed, and withdraws where a living holder is among them
 */
import {
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { ColibriError } from '../actors/kernel/index.ts';

export interface StateDirLock {
  /** Idempotent. */
  release(): void;
}

interface Holder {
  readonly pid: number;
  readonly startTicks: string;
  readonly bootId: string;
  /** Tells two locks of one process apart. */
  readonly token: string;
}

/** Longest lock file that is looked at, bytes. */
const LOCK_LIMIT = 4096;
/**
 * Of a lock that is there and cannot be read, most often another user's. Whether that one lives cannot be told, so it
 * counts as living: two daemons on one journal would do all work twice.
 */
const UNREADABLE: Holder = { pid: 0, startTicks: '', bootId: '', token: '' };
/** A lock without a living holder is set aside at most so often in a row. */
const TRIES = 3;
const NAME = 'lock';
const ASIDE = 'lock.aside-';

/**
 * Makes the directory (0700) if need be and takes its lock.
 * Throws `state-dir-held` if a living daemon has it, `config-invalid` if the directory cannot be used. `proc`: where the
 * kernel tells of processes; a parameter for tests.
 */
export function lockStateDir(dir: string, proc = '/proc'): StateDirLock {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    const token = uniqueName();
    const { startTicks, bootId } = ownBirth(proc);
    const me: Holder = { pid: process.pid, startTicks, bootId, token };
    for (let tries = 0; tries < TRIES; tries++) {
      if (tryLink(dir, me)) {
        const other = otherHolder(dir, me);
        if (other === null) return { release: () => removeLock(dir, me) };
        removeLock(dir, me);
        throw heldError(dir, other);
      }
      const held = setAside(dir, (holder) => holder === null || !isAlive(holder));
      if (held !== null) throw heldError(dir, held);
    }
  } catch (error) {
    if (error instanceof ColibriError) throw error;
    throw new ColibriError(
      'config-invalid',
      `state_dir: expected a directory that can be written, got ${dir}: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    );
  }
  throw new ColibriError(
    'state-dir-held',
    `expected to get the lock of ${dir}; another daemon is starting there`,
  );
}

function heldError(dir: string, holder: Holder): ColibriError {
  if (holder === UNREADABLE) {
    return new ColibriError(
      'state-dir-held',
      `expected a state directory of its own, got ${dir}, whose lock cannot be read: it is of another user; stop the daemon of ` +
        `that user, or where none runs delete ${join(dir, NAME)}*, or give this one another state_dir`,
    );
  }
  if (holder.pid === process.pid) {
    return new ColibriError(
      'state-dir-held',
      `expected a state directory of its own, got ${dir}, which another app of this program holds; ` +
        'stop that one, or give this one another stateDir',
    );
  }
  return new ColibriError(
    'state-dir-held',
    `expected a state directory of its own, got ${dir}, which the daemon with pid ${holder.pid} holds; ` +
      'stop that one, or give this one another state_dir',
  );
}

/** No other process of this machine makes the same one. Random bytes would load the crypto library: 2 MB for a name. */
function uniqueName(): string {
  return `${process.pid}-${process.hrtime.bigint().toString(36)}`;
}

/** False where there is a lock already. */
function tryLink(dir: string, me: Holder): boolean {
  const whole = join(dir, `${NAME}.${me.pid}.${me.token}`);
  writeFileSync(whole, `${JSON.stringify(me)}\n`, { flag: 'wx', mode: 0o600 });
  try {
    return link(whole, join(dir, NAME));
  } finally {
    unlinkSync(whole);
  }
}

/**
 * Removes the lock if `mayGo`. Returns the holder of one that may not: it stands again, or, where another lock has
 * come meanwhile, stays aside, where that one's owner sees it and withdraws.
 */
function setAside(dir: string, mayGo: (holder: Holder | null) => boolean): Holder | null {
  const file = join(dir, NAME);
  const before = readHolder(file);
  // A look first: a lock that is held is not moved at all, but for one that has come in between.
  if (before !== null && !mayGo(before)) return before;
  const aside = join(dir, `${ASIDE}${uniqueName()}`);
  if (!ifThere(() => renameSync(file, aside))) return null;
  const holder = readHolder(aside);
  if (holder === null || mayGo(holder)) {
    ifThere(() => unlinkSync(aside));
    return null;
  }
  // Its owner may let go meanwhile, and take it from where it stands.
  ifThere(() => {
    if (link(aside, file)) unlinkSync(aside);
  });
  return holder;
}

/** For one who has linked the lock: the living holder of a lock that was set aside; the others there are deleted. */
function otherHolder(dir: string, me: Holder): Holder | null {
  for (const name of readdirSync(dir)) {
    if (!name.startsWith(ASIDE)) continue;
    const file = join(dir, name);
    const holder = readHolder(file);
    if (holder === null || holder.token === me.token) continue;
    if (isAlive(holder)) return holder;
    ifThere(() => unlinkSync(file));
  }
  // One that was set aside may have been linked back during the look, in the place of this one.
  const holder = readHolder(join(dir, NAME));
  return holder !== null && holder.token !== me.token && isAlive(holder) ? holder : null;
}

/** Wherever it stands; another's lock stays. */
function removeLock(dir: string, me: Holder): void {
  try {
    setAside(dir, (holder) => holder?.token === me.token);
    for (const name of readdirSync(dir)) {
      const file = join(dir, name);
      if (name.startsWith(ASIDE) && readHolder(file)?.token === me.token) ifThere(() => unlinkSync(file));
    }
  } catch {
    // The directory is gone, and with it the lock; or it cannot be written, and the end of the process ends the lock.
  }
}

/** False where `to` is there already. */
function link(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** False where the file that `act` is about is gone. */
function ifThere(act: () => void): boolean {
  try {
    act();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

/** Null where there is none, or where it names nobody. */
function readHolder(file: string): Holder | null {
  let text: string;
  try {
    text = readFileSync(file, 'utf8').slice(0, LOCK_LIMIT);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? null : UNREADABLE;
  }
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null) return null;
    const { pid, startTicks, bootId, token } = value as Record<string, unknown>;
    if (typeof pid !== 'number' || typeof startTicks !== 'string') return null;
    if (typeof bootId !== 'string' || typeof token !== 'string') return null;
    return { pid, startTicks, bootId, token };
  } catch {
    return null;
  }
}

function isAlive(holder: Holder): boolean {
  if (holder === UNREADABLE) return true;
  try {
    const born = bornOf(holder.pid);
    // Killed, and nobody has asked for its end yet: it holds nothing any more.
    if (ENDED_STATES.includes(born.state)) return false;
    return born.startTicks === holder.startTicks && born.bootId === holder.bootId;
  } catch {
    return false;
  }
}

/** Zombie, dead. */
const ENDED_STATES: readonly string[] = ['Z', 'X'];

function ownBirth(proc: string): ReturnType<typeof bornOf> {
  try {
    return bornOf(process.pid, proc);
  } catch (error) {
    throw new ColibriError(
      'config-invalid',
      `state_dir: expected ${proc} to tell who holds the lock of a directory, got: ${error instanceof Error ? error.message : String(error)}; mount it`,
      { cause: error },
    );
  }
}

/** Of /proc/PID/stat, field 3 is the state and field 22 the start time in clock ticks since boot (proc(5)). */
function bornOf(
  pid: number,
  proc = '/proc',
): Pick<Holder, 'startTicks' | 'bootId'> & { readonly state: string } {
  const stat = readFileSync(`${proc}/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return {
    state: fields[0] ?? '',
    startTicks: fields[19] ?? '',
    bootId: readFileSync(`${proc}/sys/kernel/random/boot_id`, 'utf8').trim(),
  };
}
