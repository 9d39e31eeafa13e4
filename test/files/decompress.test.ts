import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { brotliCompressSync, constants, deflateRawSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { ColibriError, type ErrorCode } from '../../src/actors/kernel/errors.ts';
import { CHUNK_BYTES } from '../../src/workers/files/chunk-buffers.ts';
import { tempDir } from '../support/temp-dir.ts';
import { fakeContext, fileHandlers, filesBelow } from './file-job.ts';

function withCode(code: ErrorCode, pattern = /./): (thrown: unknown) => boolean {
  return (thrown) => {
    assert.ok(thrown instanceof ColibriError, String(thrown));
    assert.equal(thrown.code, code, thrown.message);
    assert.match(thrown.message, pattern);
    return true;
  };
}

const NOISE = Buffer.from(
  Array.from({ length: 70_000 }, (_, index) => Math.imul(index + 1, 0x9e3779b1) >>> 24),
);
const ENCODERS = { '.zst': zstdCompressSync, '.gz': gzipSync, '.br': brotliCompressSync };

test('members and frames one after another come out whole, wherever a read ends', (t) => {
  const base = tempDir(t);
  const to = join(base, 'out');
  const { decompress } = fileHandlers();
  for (const suffix of ['.zst', '.gz'] as const) {
    const encode = ENCODERS[suffix];
    const tail = Buffer.concat([encode('second'), encode(''), encode(NOISE)]);
    const first = encode(Buffer.concat([NOISE, NOISE, NOISE, NOISE]));
    // Ends of the first member right before, at and after the end of a slice and of a read.
    for (const edge of [65_536, CHUNK_BYTES]) {
      for (const off of [-3, -1, 0, 1, 3, 7]) {
        const padded = padTo(suffix, edge + off, first);
        const path = join(base, `file${suffix}`);
        writeFileSync(path, Buffer.concat([padded, tail]));
        decompress({ path, to });
        const out = readFileSync(join(to, 'file'));
        assert.ok(out.subarray(-NOISE.length).equals(NOISE), `${suffix} ${edge} ${off}`);
        assert.equal(out.subarray(-NOISE.length - 6, -NOISE.length).toString(), 'second');
      }
    }
  }
});

/** A file of exactly `bytes`: small members, then one of a stored size that fits, around `first` if it fits. */
function padTo(suffix: '.zst' | '.gz', bytes: number, first: Buffer): Buffer {
  if (suffix === '.zst') {
    const head = first.length + 8 <= bytes ? first : Buffer.alloc(0);
    // A skippable frame may have any size.
    const skip = Buffer.alloc(bytes - head.length);
    skip.writeUInt32LE(0x184d2a50, 0);
    skip.writeUInt32LE(skip.length - 8, 4);
    return Buffer.concat([head, skip]);
  }
  // A gzip header may carry a name of any length.
  const member = gzipSync('x');
  const name = Buffer.alloc(bytes - member.length, 'n');
  name[name.length - 1] = 0;
  const header = Buffer.from(member.subarray(0, 10));
  header[3] = 0x08;
  return Buffer.concat([header, name, member.subarray(10)]);
}

test('a file cut short, with garbage behind it, or damaged is refused and leaves nothing', (t) => {
  const base = tempDir(t);
  const to = join(base, 'out');
  const { decompress } = fileHandlers();
  for (const [suffix, encode] of Object.entries(ENCODERS)) {
    const whole = encode(NOISE);
    const middle = Buffer.from(whole);
    middle.fill(0xa5, 30, 60);
    const bad: Record<string, Buffer> = {
      empty: Buffer.alloc(0),
      'one byte': whole.subarray(0, 1),
      'cut in the middle': whole.subarray(0, whole.length >> 1),
      'cut at the end': whole.subarray(0, -1),
      'with garbage': Buffer.concat([whole, Buffer.from('garbage')]),
      'with one byte more': Buffer.concat([whole, Buffer.from('x')]),
      'with a member cut short': Buffer.concat([whole, whole.subarray(0, 9)]),
      'of another kind': Buffer.from('this is plain text, and not compressed at all'),
    };
    if (suffix === '.gz') bad.damaged = middle;
    for (const [how, content] of Object.entries(bad)) {
      const path = join(base, `file${suffix}`);
      writeFileSync(path, content);
      assert.throws(
        () => decompress({ path, to, remove_source: true }),
        withCode('file-invalid', /file\.(zst|gz|br)/),
        `${suffix} ${how}`,
      );
      assert.ok(existsSync(path));
    }
  }
  assert.deepEqual(filesBelow(to), []);
});

test('gzip files padded with zeros are whole', (t) => {
  const base = tempDir(t);
  const path = join(base, 'file.gz');
  const { decompress } = fileHandlers();
  writeFileSync(path, Buffer.concat([gzipSync('hello'), Buffer.alloc(CHUNK_BYTES)]));
  decompress({ path, to: join(base, 'out') });
  assert.equal(readFileSync(join(base, 'out/file'), 'utf8'), 'hello');
  writeFileSync(path, Buffer.concat([gzipSync('hello'), Buffer.alloc(100), Buffer.from('x')]));
  assert.throws(() => decompress({ path, to: join(base, 'out') }), withCode('file-invalid'));
});

test('an output beyond the bounds is refused before it fills the disk', (t) => {
  const base = tempDir(t);
  const to = join(base, 'out');
  const zeros = Buffer.alloc(12 * 1024 * 1024);
  const { decompress } = fileHandlers();
  for (const [suffix, encode] of Object.entries({ '.zst': zstdCompressSync, '.gz': gzipSync })) {
    const path = join(base, `bomb${suffix}`);
    writeFileSync(path, encode(zeros));
    let looks = 0;
    const context = fakeContext({
      onLook() {
        looks += 1;
        return false;
      },
    });
    const max_bytes = 1024 * 1024;
    assert.throws(() => decompress({ path, to, max_bytes }, context), withCode('file-invalid', /max_bytes/));
    assert.ok(looks < 20, `looked ${looks} times`);
    assert.throws(() => decompress({ path, to, max_ratio: 100 }), withCode('file-invalid', /max_ratio/));
    // At the bound exactly is within it.
    assert.equal(decompress({ path, to, max_bytes: zeros.length }).to_bytes, zeros.length);
  }
});

test('a swelling file is stopped by its abort, from inside one chunk of input', (t) => {
  const base = tempDir(t);
  const path = join(base, 'bomb.zst');
  writeFileSync(path, zstdCompressSync(Buffer.alloc(8 * 1024 * 1024)));
  const context = fakeContext({ onLook: (look) => look === 10 });
  assert.throws(() => fileHandlers().decompress({ path, to: join(base, 'out') }, context), /told to stop/);
  assert.deepEqual(filesBelow(join(base, 'out')), []);
});

test('a zstd file that asks for more memory than it may have is refused', (t) => {
  const base = tempDir(t);
  const path = join(base, 'wide.zst');
  const params = { [constants.ZSTD_c_windowLog]: 24, [constants.ZSTD_c_compressionLevel]: 1 };
  writeFileSync(path, zstdCompressSync(Buffer.alloc(17 * 1024 * 1024), { params }));
  const { decompress } = fileHandlers();
  assert.throws(
    () => decompress({ path, to: join(base, 'out') }),
    withCode('file-invalid', /memory|max_window_mb/),
  );
  assert.equal(decompress({ path, to: join(base, 'out'), max_window_mb: 64 }).to_bytes, 17 * 1024 * 1024);
});

test('the algorithm comes from the suffix, which goes; what has none needs to be told', (t) => {
  const base = tempDir(t);
  const to = join(base, 'out');
  const { decompress } = fileHandlers();
  const cases: readonly [name: string, content: Buffer, expected: string][] = [
    ['a.txt.zst', zstdCompressSync('x'), 'a.txt'],
    ['b.zstd', zstdCompressSync('x'), 'b'],
    ['c.tgz', gzipSync('x'), 'c.tar'],
    ['d.tar.gz', gzipSync('x'), 'd.tar'],
    ['e.br', brotliCompressSync('x'), 'e'],
    ['.gz', gzipSync('x'), '.gz'],
  ];
  for (const [name, content, expected] of cases) {
    writeFileSync(join(base, name), content);
    assert.equal(decompress({ path: join(base, name), to }).path, join(to, expected));
    assert.equal(readFileSync(join(to, expected), 'utf8'), 'x');
  }
  writeFileSync(join(base, 'plain'), gzipSync('x'));
  assert.throws(() => decompress({ path: join(base, 'plain'), to }), withCode('input-invalid', /algorithm/));
  assert.equal(decompress({ path: join(base, 'plain'), to, algorithm: 'gzip' }).path, join(to, 'plain'));
  // In place the source would be its own output.
  assert.throws(
    () => decompress({ path: join(base, 'plain'), to: base, algorithm: 'gzip' }),
    withCode('input-invalid'),
  );
  writeFileSync(join(base, 'raw.gz'), deflateRawSync('x'));
  assert.throws(() => decompress({ path: join(base, 'raw.gz'), to }), withCode('file-invalid', /header/));
});
