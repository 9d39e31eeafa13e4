/**
 * Loads the parts of a built colibri: pieces of the program that lie in `dist/`, or within the single executable.
 * Sources have no parts: there `import()` and files do what is done here.
 *
 * What always holds:
 * - a part that nobody refers to any more is garbage: what `load` gave is the only way to it, and nothing keeps a list
 * - a part is compiled from the code cache that the build made of it; a cache of another runtime, or of other V8 flags,
 *   is left alone and the part is compiled as it stands
 * - a part gets built-in modules, other parts and itself by `require`, and nothing from disk
 */
import { readFileSync } from 'node:fs';
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

/** `folder`: absolute, where the parts are; null: within the executable. */
export function createParts(folder: string | null): Parts {
  const files = folder === null ? assets() : filesIn(folder);
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
      const start = `module.exports.runOnThread(${JSON.stringify(folder)},${JSON.stringify(name)})`;
      return `${files.text('parts.js')}\n${start}`;
    },
    importModule: (url) => import(url),
  };
  return parts;
}

/** For the first line of a thread. Names that the runtime gives evaluated code are not left to users' modules. */
export function runOnThread(folder: string | null, name: string): void {
  for (const key of ['module', 'exports', 'require', '__filename', '__dirname']) {
    Reflect.deleteProperty(globalThis, key);
  }
  createParts(folder).load(name);
}

interface PartFiles {
  /** The build lets nothing but ASCII through. */
  text(file: string): string;
  /** Null where there is no such file. */
  tryBytes(file: string): Uint8Array | null;
}

function filesIn(folder: string): PartFiles {
  return {
    text: (file) => readFileSync(`${folder}/${file}`, 'utf8'),
    tryBytes(file) {
      try {
        return readFileSync(`${folder}/${file}`);
      } catch {
        return null;
      }
    },
  };
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
