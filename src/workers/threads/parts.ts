/**
 * Loads the parts of a built colibri: pieces of the program that lie in `dist/`, or within the single executable.
 * Sources have no parts: there `import()` and files do what is done here.
 *
 * What always holds:
 * - a part that nobody refers to any more is garbage: what `load` gave is the only way to it, and nothing keeps a list
 * - a part is compiled from the code cache that the build made of it; a cache of another runtime, or of other V8 flags,
 *   is left alone and the part is compiled as it stands
 * - a part gets built-in modules, other parts and itself by `require`, and nothing from disk
 * - from the first thread on all parts are held open: a build that puts others in their place is no matter to a daemon that
 *   runs, whenever it starts its next thread
 */
import { fstatSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';
import { Script } from 'node:vm';

/** What `require` gives for this id: the `Parts` that loaded the asker. */
export const PARTS_ID = 'colibri:parts';

export interface Parts {
  /** Runs the part and gives its exports. Each call runs it anew. */
  load(name: string): unknown;
  /** Code that a thread starts from in order to run the part, for `new Worker(code, { eval: true })`. */
  threadCode(name: string): string;
  /** Imports a user's module. Parts cannot do so themselves: V8 knows no file that they are. */
  importModule(url: string): Promise<unknown>;
}

/** What the build makes of a part: one function, so that its cache holds all of it. */
export const PART_HEAD = '(function(exports,require,module){';
export const PART_TAIL = '})';

type Part = (exports: unknown, require: (id: string) => unknown, module: { exports: unknown }) => void;

const PREFIX = 'colibri:';

/** V8 knows its caches by its own version and flags, but not by the kind of machine. */
export function cacheFile(name: string): string {
  return `${name}.${process.version}-${process.arch}.cache`;
}

/** Descriptors by the name of the file: those of a process are good on each of its threads. */
export type HeldFiles = Readonly<Record<string, number>>;

/** `folder`: absolute, where the parts are; null: within the executable. `held`: by the thread that started this one. */
export function createParts(folder: string | null, held: HeldFiles | null = null): Parts {
  let heldHere = held;
  const files = folder === null ? assets() : filesIn(folder, () => heldHere);
  const parts: Parts = {
    load(name) {
      const cachedData = files.tryBytes(cacheFile(name));
      const script = new Script(files.text(`${name}.js`), {
        filename: `${folder ?? PREFIX}/${name}.js`,
        ...(cachedData === null ? {} : { cachedData }),
      });
      const module = { exports: {} as unknown };
      const require = (id: string): unknown => {
        if (id === PARTS_ID) return parts;
        if (id === PREFIX + name) return module.exports;
        return id.startsWith(PREFIX) ? parts.load(id.slice(PREFIX.length)) : builtIn(id);
      };
      (script.runInThisContext() as Part)(module.exports, require, module);
      return module.exports;
    },
    threadCode(name) {
      if (folder !== null) heldHere ??= hold(folder);
      const start = `module.exports.runOnThread(${JSON.stringify([folder, heldHere, name]).slice(1, -1)})`;
      return `${files.text('parts.js')}\n${start}`;
    },
    importModule: (url) => import(url),
  };
  return parts;
}

/** For the first line of a thread. Names that the runtime gives evaluated code are not left to users' modules. */
export function runOnThread(folder: string | null, held: HeldFiles | null, name: string): void {
  for (const key of ['module', 'exports', 'require', '__filename', '__dirname']) {
    Reflect.deleteProperty(globalThis, key);
  }
  createParts(folder, held).load(name);
}

interface PartFiles {
  /** The build lets nothing but ASCII through. */
  text(file: string): string;
  /** Null where there is no such file. */
  tryBytes(file: string): Uint8Array | null;
}

function filesIn(folder: string, held: () => HeldFiles | null): PartFiles {
  const bytes = (file: string): Buffer => {
    const files = held();
    if (files === null) return readFileSync(`${folder}/${file}`);
    const descriptor = files[file];
    // Not from the folder: what lies there now may be of another build.
    if (descriptor === undefined)
      throw new Error(`expected ${file} in ${folder} when the first thread began, got none`);
    return bytesOf(descriptor);
  };
  return {
    text: (file) => bytes(file).toString('latin1'),
    tryBytes(file) {
      try {
        return bytes(file);
      } catch {
        return null;
      }
    },
  };
}

/** For the life of the process. A cache that is taken away just now is left out. */
function hold(folder: string): HeldFiles {
  const held: Record<string, number> = {};
  for (const file of readdirSync(folder)) {
    if (!/\.(?:js|cache)$/.test(file)) continue;
    try {
      held[file] = openSync(`${folder}/${file}`, 'r');
    } catch {
      // Whoever needs it is told.
    }
  }
  return held;
}

/** From the start, wherever others have read to. */
function bytesOf(descriptor: number): Buffer {
  const bytes = Buffer.alloc(fstatSync(descriptor).size);
  for (let read = 0; read < bytes.length; )
    read += readSync(descriptor, bytes, read, bytes.length - read, read);
  return bytes;
}

function assets(): PartFiles {
  const { getAssetKeys, getRawAsset } = process.getBuiltinModule('node:sea');
  const names = new Set(getAssetKeys());
  // The pages of the executable themselves, not a copy.
  const bytes = (file: string) => Buffer.from(getRawAsset(file) as ArrayBuffer);
  return {
    text: (file) => bytes(file).toString('latin1'),
    tryBytes: (file) => (names.has(file) ? bytes(file) : null),
  };
}

function builtIn(id: string): unknown {
  const found: unknown = process.getBuiltinModule(id);
  if (found !== undefined) return found;
  throw Object.assign(new Error(`expected a built-in module or a part, got ${JSON.stringify(id)}`), {
    code: 'MODULE_NOT_FOUND',
  });
}
