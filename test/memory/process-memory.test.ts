import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readProcessMemory } from '../../src/main/memory/index.ts';

const fail = (): never => {
  throw Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' });
};

test('resident memory is told with its parts', () => {
  const { rss, anon, file } = readProcessMemory();
  assert.ok(anon > 0 && file > 0 && rss >= anon + file, `${rss} of ${anon} and ${file}`);
  const status = 'Name:\tx\nVmRSS:\t   300 kB\nRssAnon:\t   200 kB\nRssFile:\t   100 kB\n';
  assert.deepEqual(
    readProcessMemory(() => status),
    { rss: 300 * 1024, anon: 200 * 1024, file: 100 * 1024 },
  );
});

test('whatever cannot be read, it does not throw', () => {
  assert.deepEqual(
    readProcessMemory(fail, () => 5),
    { rss: 5, anon: 0, file: 0 },
  );
  assert.deepEqual(readProcessMemory(fail, fail), { rss: 0, anon: 0, file: 0 });
  assert.deepEqual(
    readProcessMemory(() => 'of another kernel'),
    { rss: 0, anon: 0, file: 0 },
  );
});
