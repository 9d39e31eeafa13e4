/**
 * Runs the tests, in several processes of the test runner side by side. A process takes longer to start than most files
 * run: the tests of parts share two, and those that start daemons, end threads or measure their own process share one
 * among a few files. What the two print is shown when they have ended.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { stripTypes } from './strip-types.ts';

/** In processes of a few files each, those first that take long. */
const APART = ['binary', 'kill', 'cpu', 'daemon', 'memory', 'bench'];
const FILES_EACH = 3;
/** Such processes at one time, beside the two: two cores, and much waiting for processes. */
const CONCURRENCY = 4;
/** In one process; all that are not named share the other. */
const WITH_FILES = ['files', 'io', 'store'];
/** A test that failed may have left a thread that keeps its process from ending. */
const LIMIT_MS = 480_000;
const TIMEOUT_MS = 120_000;
/** What bounds the search for the smallest case that fails: it leaves a test runner no turn to end it. */
const SEARCH = resolve('test/support/bounded-search.ts');

const stripped = resolve('node_modules/.cache/stripped');
const preload = await stripTypes(stripped);

const others = readdirSync('test', { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && ![...APART, ...WITH_FILES].includes(entry.name))
  .map((entry) => entry.name);

function filesOf(folders: readonly string[]): string[] {
  return folders.flatMap((folder) => globSync(`test/${folder}/**/*.test.ts`).sort());
}

/** Files that import some of these each. */
function inBundles(files: readonly string[]): string[] {
  const bundles: string[] = [];
  for (let at = 0; at < files.length; at += FILES_EACH) {
    const file = join(stripped, `tests-${at}.mjs`);
    const lines = files.slice(at, at + FILES_EACH).map((one) => `import ${JSON.stringify(resolve(one))};\n`);
    writeFileSync(file, lines.join(''));
    bundles.push(file);
  }
  return bundles;
}

async function runTests(files: readonly string[], flag: string, shown: boolean): Promise<boolean> {
  const search = flag === '--test-isolation=none' ? ['--import', SEARCH] : [];
  const args = ['--require', preload, ...search, '--test', `--test-timeout=${TIMEOUT_MS}`, flag, ...files];
  const child = spawn(process.execPath, args, {
    stdio: ['inherit', shown ? 'inherit' : 'pipe', 'inherit'],
    env: { ...process.env, TEST_DIST: 'node_modules/.cache/dist', TEST_STRIPPED: stripped },
  });
  const printed: Buffer[] = [];
  child.stdout?.on('data', (piece: Buffer) => printed.push(piece));
  const limit = setTimeout(() => {
    console.error(`${files[0]} and those with it have not ended within ${LIMIT_MS / 60_000} minutes`);
    child.kill('SIGKILL');
  }, LIMIT_MS);
  const [code] = (await once(child, 'close')) as [number | null];
  clearTimeout(limit);
  process.stdout.write(Buffer.concat(printed));
  return code === 0;
}

const passed = await Promise.all([
  runTests(filesOf(others), '--test-isolation=none', false),
  runTests(filesOf(WITH_FILES), '--test-isolation=none', false),
  runTests(inBundles(filesOf(APART)), `--test-concurrency=${CONCURRENCY}`, true),
]);
process.exitCode = passed.every(Boolean) ? 0 : 1;
