/** Reads the import lines of the sources: they point one way, have no cycles, and each package has one owner. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const IMPORT =
  /^\s*(?:import|export)\b[^'"]*?from\s*['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)|^import\s*['"]([^'"]+)['"]/gm;

interface Import {
  readonly from: string;
  readonly to: string;
}

function importsOf(file: string): Import[] {
  const text = readFileSync(join(root, file), 'utf8').replace(/\/\*[\s\S]*?\*\//g, '');
  return [...text.matchAll(IMPORT)].map((match) => {
    const target = match[1] ?? match[2] ?? match[3] ?? '';
    const to = target.startsWith('.')
      ? relative(root, join(root, dirname(file), target))
          .split(sep)
          .join('/')
      : target;
    return { from: file, to };
  });
}

const files = globSync('src/**/*.ts', { cwd: root }).map((file) => file.split(sep).join('/'));
const imports = files.flatMap(importsOf);

/** `src/main/cli/…` → `main/cli`, `src/main/router.ts` → `main`. */
function folderOf(path: string): string {
  return path.split('/').slice(1, -1).slice(0, 2).join('/');
}

test('there is something to read', () => {
  assert.ok(files.length > 30 && imports.length > 100);
});

test('imports never point back at src/main', () => {
  const back = imports.filter(({ from, to }) => !from.startsWith('src/main/') && to.startsWith('src/main/'));
  assert.deepEqual(back, []);
});

test('actors know nothing of workers', () => {
  const wrong = imports.filter(
    ({ from, to }) => from.startsWith('src/actors/') && to.startsWith('src/workers/'),
  );
  assert.deepEqual(wrong, []);
});

test('workers import the kernel, the protocol, the bounds of mailboxes, the words of execution and the files of results; only the files a thread starts from see other actors', () => {
  const wrong = imports.filter(
    ({ from, to }) =>
      from.startsWith('src/workers/') &&
      !from.startsWith('src/workers/threads/') &&
      to.startsWith('src/actors/') &&
      !to.startsWith('src/actors/kernel/') &&
      !to.startsWith('src/actors/delay/') &&
      !to.startsWith('src/actors/results/') &&
      to !== 'src/actors/execution.ts' &&
      to !== 'src/actors/mailboxes.ts' &&
      to !== 'src/actors/protocol.ts',
  );
  assert.deepEqual(wrong, []);
});

test('a folder with a face is entered by its face', () => {
  const faces = new Set(files.filter((file) => file.endsWith('/index.ts')).map(folderOf));
  /** Words that several folders speak, without behaviour behind them. */
  const open = new Set([
    'src/actors/kernel/errors.ts',
    'src/actors/kernel/clock.ts',
    'src/actors/kernel/envelope.ts',
    'src/actors/kernel/json-schema.ts',
    'src/actors/kernel/check-schema.ts',
    'src/actors/kernel/parse-time.ts',
    // For threads and for a start that load nothing of the folder beside it.
    'src/actors/kernel/shared-mark.ts',
    'src/actors/kernel/tidier.ts',
    'src/actors/kernel/memory-short.ts',
    'src/actors/kernel/lost-kind.ts',
    'src/main/memory/native-memory.ts',
    'src/main/memory/optimising.ts',
    'src/actors/runs/run-states.ts',
    'src/actors/runs/backoff.ts',
    'src/actors/runs/policies.ts',
    'src/actors/runs/bounds.ts',
    'src/main/config/config.ts',
  ]);
  const wrong = imports.filter(({ from, to }) => {
    if (!to.startsWith('src/') || open.has(to) || to.endsWith('/index.ts')) return false;
    const target = folderOf(to);
    const inside = folderOf(from) === target;
    return target.includes('/') && faces.has(target) && !inside;
  });
  assert.deepEqual(wrong, []);
});

test('no import cycles, type imports included', () => {
  const next = new Map<string, string[]>();
  for (const { from, to } of imports)
    if (to.startsWith('src/')) next.set(from, [...(next.get(from) ?? []), to]);
  const done = new Set<string>();
  const cycles: string[] = [];
  const visit = (file: string, path: readonly string[]): void => {
    const at = path.indexOf(file);
    if (at !== -1) {
      cycles.push([...path.slice(at), file].join(' → '));
      return;
    }
    if (done.has(file)) return;
    for (const to of next.get(file) ?? []) visit(to, [...path, file]);
    done.add(file);
  };
  for (const file of files) visit(file, []);
  assert.deepEqual(cycles, []);
});

test('each package has one owner folder', () => {
  const owners: Record<string, string> = {
    piscina: 'src/workers/',
    yaml: 'src/main/config/',
    'cron-parser': 'src/main/schedule/',
    pino: 'src/actors/telemetry/',
    'prom-client': 'src/actors/telemetry/',
  };
  for (const { from, to } of imports) {
    if (to.startsWith('src/') || to.startsWith('node:')) continue;
    const owner = owners[to.split('/')[0] ?? ''];
    assert.ok(owner !== undefined, `${from} imports ${to}, which no folder owns`);
    assert.ok(from.startsWith(owner), `${from} imports ${to}, which ${owner} owns`);
  }
});
