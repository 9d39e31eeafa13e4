import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { ColibriError } from '../../src/actors/kernel/errors.ts';
import { builtInIoHandlers } from '../../src/workers/handlers/io-handlers.ts';
import { Registry } from '../../src/workers/registry.ts';
import { tempDir } from '../support/temp-dir.ts';

function write(dir: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), text);
  }
}

test('built-in handlers are there at once', () => {
  const registry = new Registry({ builtIns: builtInIoHandlers, modules: [] });
  assert.deepEqual(registry.names, ['command', 'noop', 'sleep']);
  assert.equal(typeof registry.resolve('noop'), 'function');
  assert.throws(() => registry.resolve('nope'), { code: 'no-such-handler' });
});

test('a module is imported on first use, once, by its default or its export named handler', async (t) => {
  const dir = tempDir(t);
  write(dir, {
    'typed one.ts': 'export default (input: { n: number }): number => input.n + 1;',
    'plain.mjs': 'export function handler() { return 7; }',
    'compiled.cjs': 'exports.__esModule = true; exports.default = () => 9;',
  });
  const modules = ['typed one.ts', 'plain.mjs', 'compiled.cjs'].map((file) => ({
    name: file.replace(/\.\w+$/, ''),
    file: join(dir, file),
  }));
  const registry = new Registry({ builtIns: [], modules });
  const first = registry.resolve('typed one');
  assert.equal(registry.resolve('typed one'), first);
  const typed = await first;
  assert.equal(typed({ n: 1 }, undefined as never), 2);
  assert.equal(registry.resolve('typed one'), typed);
  assert.equal((await registry.resolve('plain'))(null, undefined as never), 7);
  assert.equal((await registry.resolve('compiled'))(null, undefined as never), 9);
});

test('a module that throws, has a syntax error, is missing or exports no function: handler-not-loaded', async (t) => {
  const dir = tempDir(t);
  write(dir, {
    'throws.mjs': "throw new Error('at load');",
    'syntax.mjs': 'export default (',
    'imports.mjs': "import 'no-such-package-at-all'; export default () => 1;",
    'object.mjs': 'export default { run() {} };',
  });
  const cases: readonly [name: string, cause: RegExp][] = [
    ['throws', /to load, got at load \(line 1\) /],
    ['syntax', /to load, got Unexpected/],
    ['imports', /no-such-package-at-all/],
    ['object', /export a function.*got undefined/],
    ['missing', /missing/],
  ];
  const modules = cases.map(([name]) => ({ name, file: join(dir, `${name}.mjs`) }));
  const registry = new Registry({ builtIns: [], modules });
  for (const [name, cause] of cases) {
    await assert.rejects(Promise.resolve(registry.resolve(name)), (error) => {
      assert.ok(error instanceof ColibriError);
      assert.equal(error.code, 'handler-not-loaded');
      assert.ok(error.message.includes(join(dir, `${name}.mjs`)));
      assert.match(`${error.message} ${(error.cause as Error | undefined)?.message}`, cause);
      return true;
    });
  }
});

test('the message says on which line a module cannot be read', async (t) => {
  const dir = tempDir(t);
  write(dir, {
    'syn.ts': 'export default () => {\n  return 1 +;\n};\n',
    'thrown.ts': "\n\nthrow new Error('a\\nb');\n",
  });
  const modules = ['syn', 'thrown'].map((name) => ({ name, file: join(dir, `${name}.ts`) }));
  const registry = new Registry({ builtIns: [], modules });
  const message = (name: string) =>
    Promise.resolve(registry.resolve(name)).then(
      () => '',
      (error: Error) => error.message.replaceAll(dir, ''),
    );
  assert.equal(await message('syn'), 'expected /syn.ts to load, got Expression expected (line 2)');
  assert.equal(await message('thrown'), 'expected /thrown.ts to load, got a (line 3)');
});

test('a module that failed is tried again', async () => {
  let imports = 0;
  const importModule = async () => {
    if (imports++ === 0) throw new Error('disk busy');
    return { default: () => 'ok' };
  };
  const registry = new Registry({ builtIns: [], modules: [{ name: 'm', file: '/m.ts' }], importModule });
  await assert.rejects(Promise.resolve(registry.resolve('m')));
  assert.equal((await registry.resolve('m'))(null, undefined as never), 'ok');
});
