/** A thousand files through a whole daemon: each hashed and compressed, right by the common tools. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { hash, randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { zstdDecompressSync } from 'node:zlib';
import { daemonInside } from '../support/daemon-inside.ts';
import { tempDir } from '../support/temp-dir.ts';

const handlers = fileURLToPath(new URL('./handlers', import.meta.url));
const COUNT = 1000;
const LARGEST = 4 * 1024 * 1024;

/** What all sizes come to: half a gigabyte would only take longer. */
const TOTAL = 100 * 1024 * 1024;
const BIG = 15;

/** Of the largest a few, the rest spread evenly over the orders of magnitude below. */
function sizeOf(index: number): number {
  if (index === 0) return 1;
  if (index <= BIG) return LARGEST;
  return Math.floor((LARGEST / 16) ** Math.random());
}

/** Names as people and programs make them; contents cut from one block of noise. */
function makeFiles(inbox: string): Map<string, string> {
  const digests = new Map<string, string>();
  const noise = randomBytes(LARGEST);
  // Half of it repeats, so that compressing has something to do.
  for (let at = 0; at < LARGEST; at += 4096) noise.fill('colibri ', at, at + 2048);
  const odd = [
    'a b',
    'ü-ñ-漢',
    'new\nline',
    'back\\slash',
    '-dash',
    'quo\'te"',
    'tab\t',
    'x'.repeat(180),
    'cr\r',
    '*',
  ];
  for (const place of ['.', 'sub 0/deeper', 'sub 7/deeper', 'sub 14/deeper']) {
    mkdirSync(join(inbox, place), { recursive: true });
  }
  let total = 0;
  for (let index = 0; index < COUNT; index++) {
    const size = sizeOf(index);
    total += size;
    const name = `${odd[index % odd.length]}${index}`;
    const path = index % 7 === 0 ? join(`sub ${index % 21}/deeper`, name) : name;
    const start = Math.floor(Math.random() * (LARGEST - size + 1));
    const content = noise.subarray(start, start + size);
    writeFileSync(join(inbox, path), content);
    digests.set(path, hash('sha256', content));
  }
  assert.ok(total > LARGEST * BIG && total < TOTAL, `${total} bytes`);
  return digests;
}

test('every file is done once, while threads are killed and the ready queue is full', {
  timeout: 110_000,
}, async (t) => {
  const dir = tempDir(t);
  const inbox = join(dir, 'inbox');
  mkdirSync(inbox);
  const digests = makeFiles(inbox);
  mkdirSync(join(dir, 'out'));
  const { daemon, run, trigger, live } = await daemonInside(
    t,
    {
      handlers: [join(handlers, '*.ts')],
      pools: { cpu: { threads: 2 } },
      queues: { ready: { capacity: 40, when_full: 'block' } },
      defaults: { max_retry: 2, backoff: { base_seconds: 0.05 } },
      retention: { runs: 5000 },
      tasks: [
        {
          name: 'hash',
          handler: 'hash',
          with: { manifest: './out/SHA256SUMS' },
          each: { files: './inbox/**/*' },
        },
        { name: 'zstd', handler: 'compress', with: { to: './outbox' }, each: { files: './inbox/**/*' } },
        { name: 'mischief', kind: 'cpu', handler: 'mischief', overlap: 'allow', max_retry: 0, priority: 1 },
      ],
    },
    dir,
  );
  const scans = [run('hash'), run('zstd')];
  let deepest = 0;
  const killers = (async () => {
    for (let count = 0; count < 20; count++) {
      const ended = await run('mischief', { how: 'exit' });
      assert.equal(ended.error?.code, 'worker-lost');
      deepest = Math.max(deepest, daemon.view().queues[0]!.depth);
    }
  })();
  const results = (await Promise.all(scans)).map((scan) => JSON.parse(scan.result!) as { accepted: number });
  await killers;
  assert.deepEqual(
    results.map((result) => result.accepted),
    [COUNT, COUNT],
  );
  assert.ok(deepest <= 40, `${deepest}`);

  // A second look while the last ones run, and a third when all is done, find nothing new.
  for (const again of await Promise.all([run('hash'), run('zstd')])) {
    assert.equal((JSON.parse(again.result!) as { accepted: number }).accepted, 0);
  }
  while ((await live()).some((view) => view.endedAtMs === null)) await run('mischief', { how: 'nothing' });
  assert.equal(
    daemon.view().queues.find((queue) => queue.name === 'dead-letter')!.depth,
    20,
    'only the mischief died',
  );
  for (const again of await Promise.all([run('hash'), run('zstd')])) {
    assert.equal((JSON.parse(again.result!) as { accepted: number }).accepted, 0);
  }
  await trigger('mischief', { how: 'nothing' });

  const checked = execFileSync('sha256sum', ['--quiet', '-c', 'SHA256SUMS'], {
    cwd: join(dir, 'out'),
    encoding: 'utf8',
  });
  assert.equal(checked, '');
  const lines = readFileSync(join(dir, 'out', 'SHA256SUMS'), 'utf8')
    .trimEnd()
    .split('\n');
  assert.equal(new Set(lines).size, COUNT, 'a line for every file');
  const outputs = readdirSync(join(dir, 'outbox'), { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  assert.equal(outputs.length, COUNT, 'an output for every file, and no part file left');
  for (const entry of outputs) {
    const path = join(entry.parentPath, entry.name);
    const relative = path.slice(join(dir, 'outbox').length + 1).replace(/\.zst$/, '');
    assert.equal(hash('sha256', zstdDecompressSync(readFileSync(path))), digests.get(relative), relative);
  }
});
