/** A module has no state of its own: what changes belongs to an object that somebody made. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

test('no module of the sources declares a variable that changes', () => {
  const files = globSync('src/**/*.ts', { cwd: root });
  assert.ok(files.length > 30);
  const wrong = files.filter((file) => /^(export )?(let|var) /m.test(readFileSync(join(root, file), 'utf8')));
  assert.deepEqual(wrong, []);
});
