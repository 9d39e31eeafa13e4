/**
 * Preloaded into the daemon that the build starts, and with it on each of its threads: writes the code cache of a part
 * when the build asks for it. A cache holds the functions that were called until then and no others: what a start
 * needs, and nothing that would only fill memory.
 */
const { readFileSync, renameSync, writeFileSync } = require('node:fs');
const { basename, join } = require('node:path');
const { setFlagsFromString } = require('node:v8');
const { isMainThread } = require('node:worker_threads');
const vm = require('node:vm');

const LOOK_MS = 10;
/** The build writes into it what it asks for: `{ parts, file, flags }`. */
const ordersFile: string = process.env.CODE_CACHE_ORDERS ?? '';
const scripts = new Map<string, import('node:vm').Script>();

const Original = vm.Script;
function RecordedScript(code: string, options: import('node:vm').ScriptOptions): import('node:vm').Script {
  const script = new Original(code, options);
  scripts.set(basename(options.filename ?? '', '.js'), script);
  return script;
}
vm.Script = RecordedScript as unknown as typeof vm.Script;

// A collection of garbage would drop the very functions that were called once, at the start.
if (isMainThread) setFlagsFromString('--no-flush-bytecode');

setInterval(() => {
  let orders: { parts: string[]; folder: string; flags: string[] };
  try {
    orders = JSON.parse(readFileSync(ordersFile, 'utf8'));
  } catch {
    return;
  }
  for (const name of orders.parts) {
    const script = scripts.get(name);
    if (script === undefined) continue;
    scripts.delete(name);
    // A cache is good for the flags it was made with.
    for (const flag of orders.flags) setFlagsFromString(flag);
    const file = join(orders.folder, `${name}.${process.version}-${process.arch}.cache`);
    writeFileSync(`${file}.part`, script.createCachedData());
    renameSync(`${file}.part`, file);
  }
}, LOOK_MS).unref();
