/**
 * The package as npm ships it, in an empty project without the sources and without any other package: its types, the
 * examples of the documents, and what they do when they run.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { test } from 'node:test';
import { buildDist } from '../../scripts/build-dist.ts';
import { emitTypes } from '../../scripts/emit-types.ts';
import { fencedBlocks, ROOT, readDocument } from '../docs/markdown.ts';
import { tempDir } from '../support/temp-dir.ts';

const HERE = import.meta.dirname;
const built = process.env.TEST_DIST;

/** `npm pack` of what is shipped and was built, unpacked where `npm install` would put it. */
async function install(dir: string, project: string): Promise<void> {
  const staged = join(dir, 'staged');
  mkdirSync(staged);
  for (const file of ['package.json', 'README.md', 'LICENSE']) cpSync(join(ROOT, file), join(staged, file));
  // Maps and caches would only take the packing its time.
  const isNeeded = (file: string) => !/\.(?:map|cache)$/.test(file);
  if (built !== undefined)
    cpSync(resolve(built), join(staged, 'dist'), { recursive: true, filter: isNeeded });
  else {
    await buildDist(join(staged, 'dist'));
    emitTypes(join(staged, 'dist/types'));
  }
  const pack = ['pack', '--ignore-scripts', '--offline', '--silent', '--pack-destination', dir];
  const tarball = execFileSync('npm', pack, { cwd: staged, encoding: 'utf8' }).trim();
  const place = join(project, 'node_modules/colibri');
  mkdirSync(place, { recursive: true });
  execFileSync('tar', ['-xzf', join(dir, tarball), '-C', place, '--strip-components=1']);
}

/** Files of the documents' examples: each block begins with its name. */
function examples(): Map<string, string> {
  const blocks = ['README.md', 'docs/library.md'].flatMap((path) =>
    fencedBlocks(readDocument(path)).filter(({ language }) => language === 'ts'),
  );
  const named = blocks.flatMap(({ text }) => {
    const [, name] = /^\/\/ (\S+\.ts)$/m.exec(text) ?? [];
    return name === undefined ? [] : [[name, text] as const];
  });
  assert.equal(new Set(named.map(([name]) => name)).size, named.length, 'a name a block');
  return new Map(named);
}

const TSCONFIG = {
  compilerOptions: {
    target: 'esnext',
    lib: ['esnext'],
    module: 'nodenext',
    types: ['node'],
    strict: true,
    noEmit: true,
    skipLibCheck: true,
  },
};

test('installed into an empty project, it compiles with its types, and the examples of the documents run', async (t) => {
  const dir = tempDir(t);
  const project = join(dir, 'project');
  await install(dir, project);
  for (const one of ['@types/node', 'undici-types']) {
    mkdirSync(dirname(join(project, 'node_modules', one)), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules', one), join(project, 'node_modules', one));
  }
  const write = (name: string, text: string) => writeFileSync(join(project, name), text);
  write('package.json', '{ "type": "module" }');
  write('tsconfig.json', JSON.stringify(TSCONFIG));
  for (const [name, text] of examples()) write(name, text);
  write('tasks.ts', readFileSync(join(HERE, 'types/tasks.ts'), 'utf8'));
  // An error that is not expected, so that a compiler that sees nothing is seen.
  write('wrong.ts', "import { App } from 'colibri';\nnew App({ stateDir: 5 });\n");

  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  const compiled = spawnSync(process.execPath, [tsc, '-p', project], { encoding: 'utf8' });
  const errors = compiled.stdout.split('\n').filter((line) => /error TS/.test(line));
  assert.equal(errors.length, 1, compiled.stdout);
  assert.match(errors[0]!, /wrong\.ts\(2,11\): error TS2322/);

  // In one process, one after the other.
  const names = ['program.ts', 'example.ts', 'program.test.ts'];
  write('all.js', names.map((name) => `await import('./${name}');\n`).join(''));
  // A test of its own, and no part of this one.
  const env = { ...process.env, NODE_TEST_CONTEXT: undefined };
  const ran = spawnSync(process.execPath, ['all.js'], { cwd: project, encoding: 'utf8', env });
  assert.equal(ran.status, 0, `${ran.stdout}${ran.stderr}`);
  const printed = ran.stdout.split('\n').filter((line) => !line.startsWith('{'));
  assert.deepEqual(printed.slice(0, 2), ['5', '3']);
  assert.match(printed[2]!, /^[0-9a-f]{64}$/);
  assert.match(ran.stdout, /^ℹ pass 1$/m);
});

test('what the package declares stands by itself: it names its own files and the runtime', () => {
  const types = built === undefined ? null : join(resolve(built), 'types');
  for (const file of types === null ? [] : globSync('**/*.d.ts', { cwd: types })) {
    const text = readFileSync(join(types!, file), 'utf8');
    for (const [, from = ''] of text.matchAll(/\b(?:from|import\()\s*['"]([^'"]+)['"]/g)) {
      if (from.startsWith('node:')) continue;
      const target = join(types!, dirname(file), from.replace(/\.ts$/, '.d.ts'));
      assert.ok(from.startsWith('.') && existsSync(target), `${file}: ${from}`);
    }
  }
});
