/**
 * Runs the tests, in several processes of the test runner side by side: the tests of parts share two processes, because
 * one for each file would take longer to start than most of them run; those that start daemons, end threads or measure
 * their own process have one a file. What the shared ones print is shown when they have ended.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';

/** A process a file. */
const APART = ['binary', 'bench', 'cpu', 'daemon', 'kill', 'memory'];
/** Files at one time, beside the shared processes: two cores, and much waiting for processes. */
const CONCURRENCY = 4;
/** In one process; all that are not named share the other. */
const WITH_FILES = ['files', 'io', 'store'];
const TIMEOUT_MS = 120_000;

const others = readdirSync('test', { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && ![...APART, ...WITH_FILES].includes(entry.name))
  .map((entry) => entry.name);

async function runTests(
  folders: readonly string[],
  flags: readonly string[],
  shown: boolean,
): Promise<boolean> {
  const files = folders.map((folder) => `test/${folder}/**/*.test.ts`);
  const args = ['--test', `--test-timeout=${TIMEOUT_MS}`, ...flags, ...files];
  const child = spawn(process.execPath, args, {
    stdio: ['inherit', shown ? 'inherit' : 'pipe', 'inherit'],
    env: {
      ...process.env,
      TEST_DIST: 'node_modules/.cache/dist',
      NODE_COMPILE_CACHE: 'node_modules/.cache/compile',
    },
  });
  const printed: Buffer[] = [];
  child.stdout?.on('data', (piece: Buffer) => printed.push(piece));
  const [code] = (await once(child, 'close')) as [number | null];
  process.stdout.write(Buffer.concat(printed));
  return code === 0;
}

const passed = await Promise.all([
  runTests(others, ['--test-isolation=none'], false),
  runTests(WITH_FILES, ['--test-isolation=none'], false),
  runTests(APART, [`--test-concurrency=${CONCURRENCY}`], true),
]);
process.exitCode = passed.every(Boolean) ? 0 : 1;
