/** The runtime for the other kind of machine: whole, or not there. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fetchRuntime } from '../../scripts/fetch-runtime.ts';
import { tempDir } from '../support/temp-dir.ts';

function rig(t: TestContext) {
  const dir = tempDir(t);
  mkdirSync(join(dir, 'package', 'bin'), { recursive: true });
  writeFileSync(join(dir, 'package', 'bin', 'node'), 'a runtime');
  const archive = execFileSync('tar', ['cz', '-C', dir, 'package/bin/node']);
  const integrity = `sha512-${createHash('sha512').update(archive).digest('base64')}`;
  const cache = join(dir, 'cache');
  const fetch = (bytes: Uint8Array | null, pinned: string | undefined = integrity) =>
    fetchRuntime(cache, {
      name: 'node-linux-other',
      version: '1.2.3',
      integrity: pinned,
      pack(folder) {
        if (bytes === null) throw new Error('no such package');
        writeFileSync(join(folder, 'archive.tgz'), bytes);
        return 'archive.tgz';
      },
    });
  return { archive, cache, fetch };
}

test('a runtime is fetched once, and is there whole', (t) => {
  const { archive, cache, fetch } = rig(t);
  const runtime = fetch(archive);
  assert.equal(readFileSync(runtime, 'utf8'), 'a runtime');
  assert.equal(fetch(null), runtime, 'not fetched again');
  assert.deepEqual(readdirSync(cache), ['node-linux-other-1.2.3']);
  assert.deepEqual(readdirSync(join(cache, 'node-linux-other-1.2.3')), ['package']);
});

test('what is missing, another one, or broken leaves nothing that a later build would take', (t) => {
  const { archive, cache, fetch } = rig(t);
  const half = archive.subarray(0, archive.length / 2);
  const integrityOfHalf = `sha512-${createHash('sha512').update(half).digest('base64')}`;
  for (const [bytes, pinned, message] of [
    [null, undefined, /no such package/],
    [half, undefined, /expected integrity sha512-/],
    // As if unpacking were broken off.
    [half, integrityOfHalf, /tar/],
  ] as const) {
    assert.throws(() => fetch(bytes, pinned), message);
    assert.deepEqual(readdirSync(cache), []);
  }
  assert.equal(readFileSync(fetch(archive), 'utf8'), 'a runtime');
});
