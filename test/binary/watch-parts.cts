/**
 * Preloaded into a built daemon: writes to the standard error which parts are run and whether their code cache was
 * taken, and when the part that loads the config is gone from memory.
 */
const { writeSync } = require('node:fs');
const { basename } = require('node:path');
const { setFlagsFromString } = require('node:v8');
const vm = require('node:vm');

type Script = import('node:vm').Script;
type Run = (exports: unknown, require: unknown, module: object) => void;

const LOOK_MS = 20;
const AFTER_START_MS = 1000;
const say = (line: object) => writeSync(2, `${JSON.stringify(line)}\n`);

const Original = vm.Script;
function WatchedScript(code: string, options: import('node:vm').ScriptOptions): Script {
  const script = new Original(code, options);
  const part = basename(options.filename ?? '', '.js');
  say({ part, cache: script.cachedDataRejected === false });
  const runInThisContext = script.runInThisContext.bind(script);
  script.runInThisContext = () => {
    const run = runInThisContext() as Run;
    return (exports: unknown, require: unknown, module: object) => {
      run(exports, require, module);
      if (part === 'config') watch(new WeakRef(module));
    };
  };
  return script;
}
vm.Script = WatchedScript as unknown as typeof vm.Script;

/** Threads of the daemon set and take back the same flag: as often as it takes. */
function collector(): () => void {
  for (;;) {
    setFlagsFromString('--expose-gc');
    const found: unknown = vm.runInNewContext('globalThis.gc');
    setFlagsFromString('--no-expose-gc');
    if (typeof found === 'function') return found as () => void;
  }
}

/** Asks for the collector only after the start, whose code caches its flag would spoil. */
function watch(module: WeakRef<object>): void {
  setTimeout(() => {
    const collect = collector();
    const looking = setInterval(() => {
      collect();
      if (module.deref() !== undefined) return;
      clearInterval(looking);
      say({ freed: 'config' });
    }, LOOK_MS);
  }, AFTER_START_MS);
}
