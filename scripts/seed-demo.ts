/**
 * Before the first `npm start`: puts a few real files into the demo's inbox, so that something is seen at once.
 * Later starts leave the inbox as it is.
 */
import { copyFileSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const inbox = join(root, 'configs', 'inbox');

if (!existsSync(inbox)) {
  const docs = readdirSync(join(root, 'docs')).map((name) => join('docs', name));
  mkdirSync(join(inbox, 'docs'), { recursive: true });
  for (const file of ['README.md', 'CHANGELOG.md', 'package.json', 'package-lock.json']) {
    copyFileSync(join(root, file), join(inbox, basename(file)));
  }
  for (const file of docs) copyFileSync(join(root, file), join(inbox, file));
}
