/**
 * Finds the files that match a glob below a root, as a stream of batches. The consumer sets the pace: while
 * it does not ask for the next batch, nothing is read.
 *
 * What must always hold:
 * - however many files a folder has, at most one batch, 32 looks at files, 64 names a folder on the way down
 *   and 1024 names of files that are not at rest are held;
 * - symbolic links are not followed, neither to files nor to folders; only regular files are found;
 * - a file that was written within `settleMs` may not be whole yet: it is looked at again at the end, and if it
 *   is still not at rest left for the next scan. A time in the future comes from another clock and says nothing
 *   about now: such a file is at rest if it is the same at both looks. A writer that pauses for longer than that
 *   is taken for done: write elsewhere and rename, or raise `settleMs`;
 * - part files that compress and decompress work on are never found;
 * - what cannot be read is told to `onSkipped` and does not end the scan; a missing root does.
 */
import type { Dir, Dirent } from 'node:fs';
import { type Clock, systemClock } from '../../actors/kernel/clock.ts';
import { ColibriError } from '../../actors/kernel/errors.ts';
import type { FoundItem } from '../../actors/protocol.ts';
import { fingerprint64 } from '../../actors/results/fingerprint.ts';
import { compileGlob, type GlobState } from './glob.ts';
import { isPartName } from './part-name.ts';

export interface FileScanOptions {
  /** Absolute; may itself be reached through links. */
  readonly root: string;
  /** Glob relative to the root, with `/`. */
  readonly pattern: string;
  /** Items a batch at most; 256 by default. */
  readonly batchSize?: number;
  /** A file younger than this, by its mtime, may still be written; 1000 by default. */
  readonly settleMs?: number;
  /** For the age of files, and to wait for the youngest once; the system's by default. */
  readonly clock?: Clock;
  /** Looked at before each file and folder: true ends the scan early, without an error. */
  readonly aborted?: () => boolean;
  /** A file or folder that was passed by, and why. Not called for what simply does not match. */
  readonly onSkipped?: (path: string, reason: string) => void;
  /** A matching file that is left for the next scan because it may still be written. */
  readonly onUnsettled?: (path: string) => void;
}

const SETTLE_MS = 1000;
/** Looks at files in flight at once. */
const STATS_IN_FLIGHT = 32;
/** Names read from a folder at once. */
const NAMES_AT_ONCE = 64;
/** Files not at rest that are looked at again at the end; more are left for the next scan at once. */
const UNSETTLED_LIMIT = 1024;
/** The end of a scan waits no longer than this for files to come to rest. */
const WAIT_LIMIT_MS = 1000;
/** Each level of a walk holds one open folder. */
const MAX_DEPTH = 128;

/** What a file that is not at rest looked like: size and time. */
type Sight = string;

/** One look at a number of files. */
interface Pass {
  readonly options: FileScanOptions;
  /** What was seen of them at the look before. */
  readonly before: ReadonlyMap<string, Sight>;
  readonly onUnsettled: (relative: string, sight: Sight) => void;
}

interface OpenFolder {
  readonly dir: Dir;
  readonly relative: string;
  readonly state: GlobState;
}

/**
 * Batches of found files, none empty. Throws `file-failed` where the root cannot be read, `config-invalid`
 * for a bad pattern.
 */
export async function* scanFiles(options: FileScanOptions): AsyncGenerator<FoundItem[]> {
  const unsettled = new Map<string, Sight>();
  const leave = (relative: string): void => options.onUnsettled?.(absolute(options.root, relative));
  const first: Pass = {
    options,
    before: new Map(),
    onUnsettled(relative, sight) {
      if (unsettled.size < UNSETTLED_LIMIT) unsettled.set(relative, sight);
      else leave(relative);
    },
  };
  yield* lookAtAll(first, walk(options));
  if (unsettled.size === 0 || options.aborted?.() === true) return;
  await pause(options.clock ?? systemClock, Math.min(WAIT_LIMIT_MS, options.settleMs ?? SETTLE_MS));
  if (options.aborted?.() === true) return;
  yield* lookAtAll({ options, before: unsettled, onUnsettled: leave }, unsettled.keys());
}

/** Looks at files a few at a time, and gives those at rest in batches. */
async function* lookAtAll(
  pass: Pass,
  paths: AsyncIterable<string> | Iterable<string>,
): AsyncGenerator<FoundItem[]> {
  const batchSize = pass.options.batchSize ?? 256;
  let batch: FoundItem[] = [];
  let candidates: string[] = [];
  for await (const relative of paths) {
    candidates.push(relative);
    if (candidates.length < Math.min(STATS_IN_FLIGHT, batchSize - batch.length)) continue;
    await examine(pass, candidates, batch);
    candidates = [];
    if (batch.length < batchSize) continue;
    yield batch;
    batch = [];
  }
  await examine(pass, candidates, batch);
  if (batch.length > 0) yield batch;
}

function pause(clock: Clock, delayMs: number): Promise<void> {
  return new Promise((resolve) => {
    clock.setTimer(delayMs, resolve);
  });
}

/** Paths, relative to the root, of the entries whose names match, depth first. */
async function* walk(options: FileScanOptions): AsyncGenerator<string> {
  const folders = [await openRoot(options)];
  try {
    while (folders.length > 0) {
      const folder = folders.at(-1)!;
      const entry = options.aborted?.() === true ? null : await nextEntry(options, folder);
      if (entry === null) {
        folders.pop();
        await folder.dir.close();
        continue;
      }
      const relative = folder.relative === '' ? entry.name : `${folder.relative}/${entry.name}`;
      if (entry.isDirectory()) {
        const inside = await openInside(options, folders, entry.name);
        if (inside !== undefined) folders.push(inside);
      } else if (entry.isFile() && folder.state.matchesFile(entry.name) && !isPartName(entry.name)) {
        yield relative;
      }
    }
  } finally {
    for (const folder of folders) await folder.dir.close();
  }
}

async function openRoot(options: FileScanOptions): Promise<OpenFolder> {
  const state = compileGlob(options.pattern);
  try {
    const dir = await files().opendir(options.root, { bufferSize: NAMES_AT_ONCE });
    return { dir, relative: '', state };
  } catch (thrown) {
    throw new ColibriError(
      'file-failed',
      `expected ${JSON.stringify(options.root)} to be a folder that can be read, got ${reasonOf(thrown)}; create it or correct \`each.files\``,
      { cause: thrown },
    );
  }
}

/** Null at the end of the folder, and where it stops being readable. */
async function nextEntry(options: FileScanOptions, folder: OpenFolder): Promise<Dirent | null> {
  try {
    return await folder.dir.read();
  } catch (thrown) {
    options.onSkipped?.(
      absolute(options.root, folder.relative),
      `the rest of the folder: ${reasonOf(thrown)}`,
    );
    return null;
  }
}

/** Opens the folder of this name in the last of `folders`; undefined where nothing can be found in it. */
async function openInside(
  options: FileScanOptions,
  folders: readonly OpenFolder[],
  name: string,
): Promise<OpenFolder | undefined> {
  const parent = folders.at(-1)!;
  const state = parent.state.enter(name);
  if (state === undefined) return undefined;
  const relative = parent.relative === '' ? name : `${parent.relative}/${name}`;
  const path = absolute(options.root, relative);
  if (folders.length >= MAX_DEPTH) {
    options.onSkipped?.(path, `expected folders at most ${MAX_DEPTH} deep`);
    return undefined;
  }
  try {
    return { dir: await files().opendir(path, { bufferSize: NAMES_AT_ONCE }), relative, state };
  } catch (thrown) {
    options.onSkipped?.(path, reasonOf(thrown, name));
    return undefined;
  }
}

/** Looks at the candidates all at once, and adds those that are files at rest to the batch, in order. */
async function examine(pass: Pass, candidates: readonly string[], batch: FoundItem[]): Promise<void> {
  const items = await Promise.all(candidates.map((relative) => look(pass, relative)));
  for (const [index, item] of items.entries()) {
    if (typeof item === 'string') pass.onUnsettled(candidates[index]!, item);
    else if (item !== undefined) batch.push(item);
  }
}

/** A sight where the file may still be written. */
async function look(pass: Pass, relative: string): Promise<FoundItem | Sight | undefined> {
  const { options, before } = pass;
  const { root, settleMs = SETTLE_MS } = options;
  const path = absolute(root, relative);
  try {
    const stats = await files().lstat(path, { bigint: true });
    if (!stats.isFile()) return undefined;
    const mtimeMs = Number(stats.mtimeNs / 1_000_000n);
    const ageMs = (options.clock ?? systemClock).wallMs() - mtimeMs;
    if (ageMs < settleMs && settleMs > 0) {
      const sight = `${stats.size} ${stats.mtimeNs}`;
      if (ageMs >= 0 || before.get(relative) !== sight) return sight;
    }
    return {
      mark: fingerprint64(`${path}\0${stats.size}\0${stats.mtimeNs}\0${stats.ino}`),
      input: JSON.stringify({ path, relative, root, size: Number(stats.size), mtime_ms: mtimeMs }),
    };
  } catch (thrown) {
    const gone = (thrown as NodeJS.ErrnoException).code === 'ENOENT';
    // A file that is gone is no news, one that cannot be named is.
    if (!gone || isMangled(relative)) options.onSkipped?.(path, reasonOf(thrown, relative));
    return undefined;
  }
}

/** Loaded with the first scan: with it come a dozen more of the runtime's modules. */
function files() {
  return process.getBuiltinModule('node:fs/promises');
}

function absolute(root: string, relative: string): string {
  if (relative === '') return root;
  return root.endsWith('/') ? root + relative : `${root}/${relative}`;
}

/** Bytes that are not UTF-8 come out of the file system as U+FFFD; such a name leads nowhere. */
function isMangled(name: string): boolean {
  return name.includes('\ufffd');
}

function reasonOf(thrown: unknown, name = ''): string {
  const { code, message } = thrown as NodeJS.ErrnoException;
  if (code === 'ENOENT' && isMangled(name)) {
    return 'expected a name in UTF-8, got other bytes; rename it to have it taken';
  }
  return code ?? message;
}
