/** A build takes the place of the one before while that one is in use. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { renewFolder } from '../../scripts/renew-folder.ts';
import { tempDir } from '../support/temp-dir.ts';

type Tree = { readonly [name: string]: string | Tree };

function write(folder: string, tree: Tree): void {
  mkdirSync(folder, { recursive: true });
  for (const [name, content] of Object.entries(tree)) {
    if (typeof content === 'string') writeFileSync(join(folder, name), content);
    else write(join(folder, name), content);
  }
}

function read(folder: string): Tree {
  const entries = readdirSync(folder, { withFileTypes: true });
  return Object.fromEntries(
    entries.map((entry) => {
      const path = join(folder, entry.name);
      return [entry.name, entry.isDirectory() ? read(path) : readFileSync(path, 'utf8')];
    }),
  );
}

test('what is new takes the place of what was, the rest goes, and what other builds make stays', async (t) => {
  const dist = join(tempDir(t), 'dist');
  const make = (tree: Tree) => async (fresh: string) => write(fresh, tree);
  await renewFolder(dist, make({ 'a.js': '1', types: { main: { 'b.d.ts': '1', 'c.d.ts': '1' } } }));
  write(dist, { colibri: 'executable', 'colibri-arm64': 'executable', 'old.js': '0', gone: { x: '0' } });
  await renewFolder(dist, make({ 'a.js': '2', 'colibri.sh': '2' }));
  const types = { main: { 'b.d.ts': '1', 'c.d.ts': '1' } };
  const executables = { colibri: 'executable', 'colibri-arm64': 'executable' };
  assert.deepEqual(read(dist), { 'a.js': '2', 'colibri.sh': '2', types, ...executables });
  await renewFolder(dist, make({ 'a.js': '3', types: { main: { 'b.d.ts': '3' } } }));
  assert.deepEqual(read(dist), { 'a.js': '3', types: { main: { 'b.d.ts': '3' } }, ...executables });
});

test('a build that fails leaves all as it was; one that was broken off is no matter', async (t) => {
  const dist = join(tempDir(t), 'dist');
  write(dist, { 'a.js': '1' });
  write(`${dist}.new`, { 'half.js': '2' });
  const failing = renewFolder(dist, async (fresh) => {
    write(fresh, { 'a.js': '2' });
    throw new Error('no luck');
  });
  await assert.rejects(failing, /no luck/);
  assert.deepEqual(read(dirname(dist)), { dist: { 'a.js': '1' } });
});

test('through a link: what it leads to is renewed, and stays where it is', async (t) => {
  const dir = tempDir(t);
  write(join(dir, 'elsewhere', 'dist'), { 'a.js': '1' });
  symlinkSync(join(dir, 'elsewhere', 'dist'), join(dir, 'dist'));
  let madeIn = '';
  await renewFolder(join(dir, 'dist'), async (fresh) => {
    madeIn = fresh;
    write(fresh, { 'a.js': '2' });
  });
  assert.equal(dirname(madeIn), join(dir, 'elsewhere'));
  assert.deepEqual(read(join(dir, 'elsewhere')), { dist: { 'a.js': '2' } });
});

test('no file is missing at any moment, and none is half there', async (t) => {
  const dist = join(tempDir(t), 'dist');
  const names = ['colibri.sh', 'main.js', 'parts.js'];
  const text = (build: number) => `${build} `.repeat(2000);
  const tree = (build: number) => Object.fromEntries(names.map((name) => [name, text(build)]));
  write(dist, tree(0));
  const flags = new Int32Array(new SharedArrayBuffer(8));
  const watcher = new Worker(
    `const { readFileSync } = require('node:fs');
    const { workerData: { files, flags } , parentPort } = require('node:worker_threads');
    let faults = 0;
    do {
      for (const file of files) {
        try {
          const words = new Set(readFileSync(file, 'utf8').trim().split(' '));
          if (words.size !== 1) faults++;
        } catch { faults++; }
      }
      Atomics.add(flags, 0, 1);
      Atomics.notify(flags, 0);
    } while (Atomics.load(flags, 1) === 0);
    parentPort.postMessage(faults);`,
    { eval: true, workerData: { files: names.map((name) => join(dist, name)), flags } },
  );
  const told = once(watcher, 'message');
  await Atomics.waitAsync(flags, 0, 0).value;
  for (let build = 1; build <= 40; build++) {
    await renewFolder(dist, async (fresh) => write(fresh, tree(build)));
  }
  Atomics.store(flags, 1, 1);
  assert.deepEqual(await told, [0]);
});
