import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { findReleasableRanges, loadNativeMemory, releasableRanges } from '../../src/main/memory/index.ts';

const smaps = (...blocks: readonly string[]) => blocks.join('\n');
const block = (head: string, anonymousKb: number) =>
  `${head}\nSize: 4096 kB\nRss: 100 kB\nAnonymous: ${anonymousKb} kB\nAnonHugePages: 0 kB\nVmFlags: rd ex mr`;

test('only what came from a file and was never written to can be given back', () => {
  const found = releasableRanges(
    smaps(
      block('00400000-0082f000 r--p 00000000 fe:00 131 /usr/bin/node', 0),
      block('0082f000-034ce000 r-xp 0042f000 fe:00 131 /usr/bin/node', 0),
      block('0732a000-0735e000 r--p 06f29000 fe:00 131 /usr/bin/node', 88),
      block('0735e000-0738a000 rw-p 06f5d000 fe:00 131 /usr/bin/node', 0),
      block('08000000-09000000 rw-p 00000000 00:00 0 [heap]', 0),
      block('7f0000000000-7f0000100000 r--p 00000000 00:00 0 ', 0),
      block('7f0000100000-7f0000200000 r--s 00000000 fe:00 77 /var/cache/shared', 0),
      block('7f0000200000-7f0000201000 r-xp 00000000 fe:00 78 /lib/small.so', 0),
      block('7f0000300000-7f0000400000 r-xp 00000000 00:05 9 /dev/zero', 0),
      block('7f0000400000-7f0000500000 r-xp 00000000 00:00 0 [vdso]', 0),
      block('7f0000500000-7f0000600000 r-xp 0042f000 fe:00 131 /usr/bin/node', 0),
      block('7f0000600000-7f0000700000 r-xp 00000000 fe:00 80 /lib/with a name.so', 0),
    ),
  );
  assert.deepEqual(
    found.map(({ start, bytes }) => [start.toString(16), bytes.toString(16)]),
    [
      ['400000', '42f000'],
      ['82f000', '2c9f000'],
      ['7f0000600000', '100000'],
    ],
  );
});

test('what the single executable carries behind the runtime can be given back; copies of its code cannot', () => {
  const found = releasableRanges(
    smaps(
      block('00400000-0735e000 r--p 00000000 fe:00 131 /opt/colibri', 0),
      block('0735e000-073dc000 rw-p 06f5d000 fe:00 131 /opt/colibri', 272),
      block('0e3ba000-0e6a1000 r--p 06fdd000 fe:00 131 /opt/colibri', 0),
      block('0e7ba000-0e8a1000 r--p 072c4000 fe:00 131 /opt/colibri', 4),
      block('7f0000500000-7f0000600000 r-xp 0042f000 fe:00 131 /opt/colibri', 0),
      block('7f0000700000-7f0000800000 r--p 00400000 fe:00 131 /opt/colibri', 0),
      block('7f0000900000-7f0000a00000 r-xp 08000000 fe:00 131 /opt/colibri', 0),
    ),
  );
  assert.deepEqual(
    found.map(({ start, bytes }) => [start.toString(16), bytes.toString(16)]),
    [
      ['400000', '6f5e000'],
      ['e3ba000', '2e7000'],
    ],
  );
});

test('a text that is no smaps gives no ranges', () => {
  for (const text of ['', 'x', 'Anonymous: 0 kB', '\n\n', block('zz-yy r-xp 0 0 1 /a', 0)]) {
    assert.deepEqual(releasableRanges(text), []);
  }
});

test('this process gives its pages back, is smaller for it, and goes on', (t) => {
  const loaded = loadNativeMemory();
  if ('missing' in loaded) return t.skip(loaded.missing);
  const ranges = findReleasableRanges();
  assert.ok(ranges.length > 0);
  const fileKb = () => Number(/^RssFile:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'latin1'))![1]);
  const before = fileKb();
  for (const range of ranges) loaded.native.release(range);
  const after = fileKb();
  assert.ok(after < before / 2, `${before} kB before, ${after} kB after`);
  loaded.native.mapSingly(ranges);
  for (const range of ranges) loaded.native.release(range);
  loaded.native.trim();
  // Code that was not run yet, on pages that are not there.
  assert.equal(JSON.parse(JSON.stringify({ a: ['x'.repeat(100)] })).a[0].length, 100);
  assert.match(new Date(0).toLocaleString('en', { timeZone: 'UTC' }), /1970/);
});
