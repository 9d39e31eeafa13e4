/** What `npm start` does before it starts. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { tempDir } from '../support/temp-dir.ts';

const ROOT = join(import.meta.dirname, '..', '..');

/** Files at any depth, as paths below the folder. */
const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => statSync(join(folder, path)).isFile())
    .sort();

test('the inbox of the demo gets the documents, whatever folders they have, and is left as it is then', (t) => {
  const inbox = join(tempDir(t), 'inbox');
  const seed = () => execFileSync(process.execPath, [join(ROOT, 'scripts', 'seed-demo.ts'), inbox]);
  seed();
  assert.deepEqual(filesBelow(join(inbox, 'docs')), filesBelow(join(ROOT, 'docs')));
  const before = filesBelow(inbox);
  assert.ok(before.includes('README.md') && before.length > 10);
  seed();
  assert.deepEqual(filesBelow(inbox), before);
});
