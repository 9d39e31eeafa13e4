/**
 * Before the first `npm start`: puts a few real files into the demo's inbox, so that something is seen at once.
 * Later starts leave the inbox as it is. `seed-demo.ts [FOLDER]`: another one.
 */
import { copyFileSync, cpSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const inbox = process.argv[2] ?? join(root, 'configs', 'inbox');

if (!existsSync(inbox)) {
  mkdirSync(inbox, { recursive: true });
  for (const file of ['README.md', 'CHANGELOG.md', 'package.json', 'package-lock.json']) {
    copyFileSync(join(root, file), join(inbox, file));
  }
  cpSync(join(root, 'docs'), join(inbox, 'docs'), { recursive: true });
}
