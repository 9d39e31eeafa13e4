/** Manifests that a full disk, a crash or a person changed. */
import assert from 'node:assert/strict';
import {
  appendFileSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ChunkBuffers } from '../../src/workers/files/chunk-buffers.ts';
import { Manifest } from '../../src/workers/files/manifest.ts';
import { TAKE_STRIPPED } from '../support/program.ts';
import { tempDir } from '../support/temp-dir.ts';
import { runTool } from './file-job.ts';

const HEX = (digit: string): string => digit.repeat(64);

interface Writer {
  readonly manifestPath: string;
  write(name: string, digit: string): string;
  lines(): string[];
}

function writerIn(root: string, manifest = 'SUMS'): Writer {
  const manifestPath = join(root, manifest);
  const writer = new Manifest(new ChunkBuffers());
  return {
    manifestPath,
    write: (name, digit) => writer.write({ manifestPath, path: join(root, name), hex: HEX(digit), run: 'r' }),
    lines: () => readFileSync(manifestPath, 'utf8').split('\n').slice(0, -1),
  };
}

/** Bytes that this process has asked the system to read so far (proc(5)). */
function bytesRead(): number {
  return Number(/^rchar: (\d+)/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);
}

test('a line that is there already is found without reading a long manifest', (t) => {
  const root = tempDir(t);
  const { manifestPath, write } = writerIn(root);
  writeFileSync(
    manifestPath,
    Array.from({ length: 20_000 }, (_, index) => `${HEX('a')}  file-${index}\n`).join(''),
  );
  assert.equal(write('file-0', 'a'), 'kept');
  const before = bytesRead();
  for (let index = 0; index < 1000; index += 1) assert.equal(write(`file-${index * 20}`, 'a'), 'kept');
  for (let index = 0; index < 1000; index += 1) assert.equal(write(`new-${index}`, 'a'), 'added');
  assert.ok(bytesRead() - before < 20_000_000, `${bytesRead() - before} bytes read`);
});

test('a line that a full disk cut short names no other file, then or later', (t) => {
  const root = tempDir(t);
  const { manifestPath, write } = writerIn(root);
  const cut = `${HEX('a')}  file-13`.length;
  for (const before of [`${'#'.repeat(1023 - cut)}\n`, `${'#'.repeat(1018 - cut)}\ntorn`]) {
    writeFileSync(manifestPath, before);
    // The shell counts in blocks of 512 bytes: the write ends after "file-13".
    const script = 'ulimit -f 2; exec "$0" "$@"';
    const child = fileURLToPath(new URL('./short-write.ts', import.meta.url));
    const args = [script, process.execPath, ...TAKE_STRIPPED, child, manifestPath, join(root, 'file-131')];
    const said = runTool(root, 'sh', '-c', ...args);
    const text = readFileSync(manifestPath, 'utf8');
    assert.equal(text.length, 1024, said.text);
    assert.match(said.text, /expected .*SUMS" to take \d+ bytes, got \d+ written; is the disk full\?/);
    assert.match(text, /\n#a{63} {2}file-1/);
    assert.equal(write('other', 'b'), 'added');
    assert.equal(write('file-131', 'a'), 'added');
    assert.deepEqual(
      readFileSync(manifestPath, 'utf8')
        .split('\n')
        .filter((line) => !line.startsWith('#') && !line.startsWith('torn')),
      [`${HEX('b')}  other`, `${HEX('a')}  file-131`, ''],
    );
  }
});

test('a last line without a newline stays if it is whole, and becomes a comment if it was cut short', (t) => {
  const root = tempDir(t);
  const { manifestPath, write, lines } = writerIn(root);
  writeFileSync(join(root, 'there'), '');
  const after = (tail: string): string | undefined => {
    writeFileSync(manifestPath, `${HEX('1')}  first\n${tail}`);
    assert.equal(write('b', 'b'), 'added');
    assert.equal(lines().at(-1), `${HEX('b')}  b`);
    return lines().at(-2);
  };
  assert.equal(after(`${HEX('2')}  there`), `${HEX('2')}  there`);
  assert.equal(after('# a remark'), '# a remark');
  assert.equal(after('other text'), 'other text');
  assert.equal(after(`${HEX('2')}  ther`), `#${HEX('2').slice(1)}  ther`);
  assert.equal(after(`${HEX('2')}  the\0\0`), `#${HEX('2').slice(1)}  the\0\0`);
  assert.equal(after(`\\${HEX('2')}  a\\\\b`), `#${HEX('2')}  a\\\\b`);
  assert.equal(after(`${HEX('3')}  there\n${HEX('2')}  there`), `#${HEX('2').slice(1)}  there`);
  writeFileSync(manifestPath, `${HEX('1')}  b\n${HEX('2')}  ther`);
  assert.equal(write('b', 'b'), 'replaced');
  assert.deepEqual(lines(), [`#${HEX('2').slice(1)}  ther`, `${HEX('b')}  b`]);
});

test('a manifest that is a link stays one when lines are replaced', (t) => {
  const root = tempDir(t);
  mkdirSync(join(root, 'real'));
  const { manifestPath, write } = writerIn(root);
  symlinkSync('real/sums', manifestPath);
  assert.equal(write('a', '1'), 'added');
  assert.equal(write('a', '2'), 'replaced');
  assert.equal(write('a', '2'), 'kept');
  assert.ok(lstatSync(manifestPath).isSymbolicLink());
  assert.equal(readFileSync(join(root, 'real/sums'), 'utf8'), `${HEX('2')}  a\n`);
});

test('a manifest keeps its owner when lines are replaced', { skip: process.getuid?.() !== 0 }, (t) => {
  const { manifestPath, write } = writerIn(tempDir(t));
  assert.equal(write('a', '1'), 'added');
  chownSync(manifestPath, 1234, 1235);
  assert.equal(write('a', '2'), 'replaced');
  const { uid, gid } = statSync(manifestPath);
  assert.deepEqual([uid, gid], [1234, 1235]);
});

test('a manifest that was edited by hand is read anew', (t) => {
  const root = tempDir(t);
  const { manifestPath, write, lines } = writerIn(root);
  const longer = (text: string): string => text.replace('  a\n', '  edited\n');
  const asLong = (text: string): string => text.replace('  other\n', '  edite\n');
  const anew = (text: string): void => {
    rmSync(manifestPath);
    writeFileSync(manifestPath, text);
  };
  const edits: Record<string, (text: string) => void> = {
    'in place, longer': (text) => writeFileSync(manifestPath, longer(text)),
    'in place, as long': (text) => writeFileSync(manifestPath, asLong(text)),
    'removed and made anew, longer': (text) => anew(longer(text)),
    'removed and made anew, as long, and added to': (text) => anew(`${asLong(text)}# end\n`),
  };
  // More than what is compared of the end of a manifest that has grown.
  const names = ['a', 'other', ...Array.from({ length: 100 }, (_, index) => `last-${index}`)];
  for (const [how, edit] of Object.entries(edits)) {
    rmSync(manifestPath, { force: true });
    for (const name of names) assert.equal(write(name, '1'), 'added', how);
    assert.equal(write('last-99', '1'), 'kept');
    edit(readFileSync(manifestPath, 'utf8'));
    const name = lines()
      .find((line) => line.includes('edit'))!
      .slice(66);
    assert.equal(write(name, '1'), 'kept', how);
    assert.equal(write('last-99', '1'), 'kept', how);
    assert.equal(lines().filter((line) => !line.startsWith('#')).length, names.length, how);
  }
  appendFileSync(manifestPath, `${HEX('7')}  added\n`);
  assert.equal(write('added', '7'), 'kept');
});
