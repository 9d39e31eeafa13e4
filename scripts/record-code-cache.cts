/**
 * Preloaded into the daemon that the build starts, and with it on each of its threads: writes the code caches of the
 * parts when the build asks for them. A cache holds the functions that were called until then and no others: what a
 * start needs, and nothing that would only fill memory. V8 takes it under the same flags only: so the collector, for which a
 * flag is set for a moment, is obtained on no thread.
 */
const { readFileSync, renameSync, writeFileSync } = require('node:fs');
const { basename, join } = require('node:path');
const v8 = require('node:v8');
const vm = require('node:vm');

const LOOK_MS = 10;
/** The build writes into this file where the caches shall be. */
const orderFile: string = process.env.CODE_CACHE_ORDER ?? '';
const scripts = new Map<string, import('node:vm').Script>();

const { setFlagsFromString } = v8;
v8.setFlagsFromString = (flags: string) => {
  if (!flags.includes('expose-gc')) setFlagsFromString(flags);
};

const Original = vm.Script;
function RecordedScript(code: string, options: import('node:vm').ScriptOptions): import('node:vm').Script {
  const script = new Original(code, options);
  scripts.set(basename(options.filename ?? '', '.js'), script);
  return script;
}
vm.Script = RecordedScript as unknown as typeof vm.Script;

setInterval(() => {
  let folder: string;
  try {
    folder = readFileSync(orderFile, 'utf8');
  } catch {
    return;
  }
  for (const [name, script] of scripts) {
    const file = join(folder, `${name}.${process.version}-${process.arch}.cache`);
    writeFileSync(`${file}.part`, script.createCachedData());
    renameSync(`${file}.part`, file);
  }
  scripts.clear();
}, LOOK_MS).unref();
