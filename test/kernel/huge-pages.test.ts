import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const MODULE = fileURLToPath(new URL('../../src/actors/kernel/huge-pages.ts', import.meta.url));
const FLAGS = ['--experimental-ffi', '--disable-warning=ExperimentalWarning'];

/** What a process finds of itself and of its children, where the system says `setting` of huge pages. */
function found(setting: string, flags = FLAGS): Readonly<Record<string, string>> {
  const script = `
    import { HugePages } from ${JSON.stringify(MODULE)};
    import { readFileSync } from 'node:fs';
    import { execFileSync, spawnSync } from 'node:child_process';
    const enabled = (status) => /THP_enabled:\\s*(\\d)/.exec(status)[1];
    const own = () => enabled(readFileSync('/proc/self/status', 'latin1'));
    const child = () => enabled(execFileSync('cat', ['/proc/self/status'], { encoding: 'latin1' }));
    const pages = new HugePages(() => ${JSON.stringify(setting)});
    const before = own();
    pages.turnOff();
    const off = own();
    const plainChild = child();
    const givenChild = pages.forChild(child);
    let thrown = null;
    try { pages.forChild(() => { throw new Error('no such program'); }); } catch ({ message }) { thrown = message; }
    console.log(JSON.stringify({ before, off, plainChild, givenChild, thrown, after: own() }));
  `;
  return JSON.parse(
    execFileSync(process.execPath, [...flags, '--input-type=module', '-e', script], { encoding: 'utf8' }),
  );
}

const AS_IT_WAS = {
  before: '1',
  off: '1',
  plainChild: '1',
  givenChild: '1',
  thrown: 'no such program',
  after: '1',
};

test('where the system gives huge pages to everyone, the process has none and its children are as ever', () => {
  const expected = { ...AS_IT_WAS, off: '0', plainChild: '0', after: '0' };
  assert.deepEqual(found('[always] madvise never\n'), expected);
});

test('elsewhere, and without node:ffi, nothing is changed', () => {
  assert.deepEqual(found('always [madvise] never\n'), AS_IT_WAS);
  assert.deepEqual(found(''), AS_IT_WAS);
  assert.deepEqual(found('[always] madvise never\n', ['--no-experimental-ffi']), AS_IT_WAS);
});
