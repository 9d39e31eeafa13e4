import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { ColibriError } from '../../src/actors/kernel/errors.ts';
import { builtInIoHandlers } from '../../src/workers/handlers/io-handlers.ts';
import { Registry } from '../../src/workers/registry.ts';
import { findUserModules, USER_MODULE_LIMIT } from '../../src/workers/user-modules.ts';
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
  });
  const { modules, problems } = findUserModules([{ root: dir, pattern: '*' }]);
  assert.deepEqual(problems, []);
  const registry = new Registry({ builtIns: [], modules });
  const first = registry.resolve('typed one');
  assert.equal(registry.resolve('typed one'), first);
  const typed = await first;
  assert.equal(typed({ n: 1 }, undefined as never), 2);
  assert.equal(registry.resolve('typed one'), typed);
  assert.equal((await registry.resolve('plain'))(null, undefined as never), 7);
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
    ['throws', /at load/],
    ['syntax', /Unexpected/],
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

test('modules are named by their file; other files, declarations and node_modules are left out', (t) => {
  const dir = tempDir(t);
  write(dir, {
    'a.ts': '',
    'a.d.ts': '',
    'b.js': '',
    'sub/c.mts': '',
    'sub/d.mjs': '',
    'notes.md': '',
    'data.json': '{}',
    'node_modules/x/index.js': '',
  });
  const { modules, problems } = findUserModules([{ root: dir, pattern: '**/*' }]);
  assert.deepEqual(problems, []);
  assert.deepEqual(modules, [
    { name: 'a', file: join(dir, 'a.ts') },
    { name: 'b', file: join(dir, 'b.js') },
    { name: 'c', file: join(dir, 'sub/c.mts') },
    { name: 'd', file: join(dir, 'sub/d.mjs') },
  ]);
});

test('two files of one name are a problem that names both; one file in two patterns is not', (t) => {
  const dir = tempDir(t);
  write(dir, { 'a.ts': '', 'sub/a.js': '', 'b.ts': '' });
  const { modules, problems } = findUserModules([
    { root: dir, pattern: '**/*.{ts,js}' },
    { root: dir, pattern: 'b.ts' },
  ]);
  assert.deepEqual(
    modules.map(({ name }) => name),
    ['a', 'b'],
  );
  assert.equal(problems.length, 1);
  assert.match(problems[0] ?? '', /handler a, got .*a\.ts and .*sub\/a\.js/);
});

test('a folder that is not there has no modules; far too many are a problem', (t) => {
  const dir = tempDir(t);
  assert.deepEqual(findUserModules([{ root: join(dir, 'none'), pattern: '*.ts' }]), {
    modules: [],
    problems: [],
  });
  for (let n = 0; n <= USER_MODULE_LIMIT; n++) writeFileSync(join(dir, `h${n}.js`), '');
  const { modules, problems } = findUserModules([{ root: dir, pattern: '*.js' }]);
  assert.equal(modules.length, USER_MODULE_LIMIT);
  assert.match(problems[0] ?? '', /at most 1000/);
});
