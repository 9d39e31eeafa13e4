/** The single executable, as it is copied to a machine: it, a config, and the modules that the config names. */
import assert from 'node:assert/strict';
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { zstdDecompressSync } from 'node:zlib';
import { ROOT } from '../../scripts/bundle.ts';
import { RUNTIME_FLAGS } from '../../scripts/runtime-flags.ts';
import { putDist } from '../support/dist.ts';
import { tempDir } from '../support/temp-dir.ts';
import { BuiltDaemon } from './built-daemon.ts';

const run = promisify(execFile);

/** What it runs as: the tests' own user may be root. */
const NOBODY = 65534;

const out = mkdtempSync(join(tmpdir(), 'colibri-built-'));
chmodSync(out, 0o755);
after(() => rmSync(out, { recursive: true, force: true }));
await putDist(out);
execFileSync(
  process.execPath,
  [join(ROOT, 'scripts', 'build-binary.ts'), out, '--only-this-kind', '--as-built'],
  { stdio: 'pipe' },
);
const colibri = join(out, 'colibri');

const CPU_MODULE = `
export default function sum({ upTo }: { readonly upTo: number }, context: { readonly task: string }): object {
  let total: number = 0;
  for (let n = 1; n <= upTo; n++) total += n;
  return { task: context.task, total };
}
`;
const IO_MODULE = `
import { readFile } from 'node:fs/promises';
import { shout } from './lib/shout.mjs';
export default async function reader({ path }) {
  console.log('printed by a module');
  return shout((await readFile(path, 'utf8')).trim());
}
`;
const CONFIG = {
  state_dir: './state',
  metrics: { listen: '127.0.0.1:0' },
  shutdown: { grace_seconds: 3 },
  handlers: ['./handlers/*.{ts,mjs}'],
  tasks: [
    {
      name: 'digest',
      handler: 'hash',
      with: { manifest: './out/SHA256SUMS' },
      each: { files: './inbox/*' },
      every: '1s',
      run_on_start: true,
    },
    {
      name: 'pack',
      handler: 'compress',
      with: { to: './packed' },
      each: { files: './inbox/*' },
      every: '1s',
      run_on_start: true,
    },
    { name: 'sum', kind: 'cpu', handler: 'sum', with: { upTo: 1000 } },
    { name: 'read', kind: 'io', handler: 'reader', with: { path: './inbox/a.txt' } },
    { name: 'shell', handler: 'command', with: { argv: ['id', '-u'] } },
    { name: 'long', handler: 'sleep', with: { ms: 60_000 } },
  ],
};

const uid = process.getuid?.() === 0 ? NOBODY : process.getuid!();
const noSetpriv = uid === NOBODY && spawnSync('setpriv', ['--version']).error !== undefined;
const skip = noSetpriv && 'expected setpriv (util-linux) to become another user with, found none';

test('W7: the executable alone, in an empty folder, as another user', { skip }, async (t) => {
  const dir = tempDir(t);
  const files: Readonly<Record<string, string>> = {
    'colibri.yaml': JSON.stringify(CONFIG),
    'inbox/a.txt': 'some text\n',
    'inbox/b.txt': 'b'.repeat(300_000),
    'handlers/sum.ts': CPU_MODULE,
    'handlers/reader.mjs': IO_MODULE,
    'handlers/lib/shout.mjs': 'export const shout = (text) => text.toUpperCase();\n',
  };
  for (const folder of ['.', 'inbox', 'handlers', 'handlers/lib']) {
    mkdirSync(join(dir, folder), { recursive: true });
    chownSync(join(dir, folder), uid, uid);
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text);
  // Without anything of this machine in its environment, and without the rights of root.
  const asUser = (...args: string[]): [string, string[]] =>
    uid === NOBODY
      ? ['setpriv', [`--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', colibri, ...args]]
      : [colibri, args];
  const command = async (...args: string[]) => {
    const [program, rest] = asUser(...args);
    const { stdout } = await run(program, rest, { cwd: dir, env: { PATH: process.env.PATH } });
    return stdout;
  };

  assert.match(await command('check'), /ok, 6 tasks/);
  const [program, args] = asUser('run');
  const daemon = new BuiltDaemon(t, { command: program, args, cwd: dir });
  const ready = await daemon.line((line) => line.msg === 'ready');
  assert.equal(ready.pid, daemon.child.pid);
  assert.equal(statSync(`/proc/${ready.pid}`).uid, uid);

  const done = (task: string, file: string) =>
    daemon.line((line) => line.task === task && line.file === file && line.result === 'success');
  await Promise.all(['digest', 'pack'].flatMap((task) => [done(task, 'a.txt'), done(task, 'b.txt')]));
  const sums = readFileSync(join(dir, 'out/SHA256SUMS'), 'utf8');
  for (const name of ['inbox/a.txt', 'inbox/b.txt']) {
    const text = files[name]!;
    assert.ok(sums.includes(createHash('sha256').update(text).digest('hex')), name);
    const packed = readFileSync(join(dir, 'packed', `${name.slice('inbox/'.length)}.zst`));
    assert.equal(zstdDecompressSync(packed).toString(), text);
  }

  const result = async (task: string) => {
    const { ended } = JSON.parse(await command('trigger', task, '--wait', '--json')) as {
      readonly ended: { readonly result: unknown };
    };
    return ended.result;
  };
  assert.deepEqual(await result('sum'), { task: 'sum', total: 500_500 });
  assert.equal(await result('read'), 'SOME TEXT');
  await daemon.line((line) => line.printed === true && line.msg === 'printed by a module');
  assert.match(JSON.stringify(await result('shell')), new RegExp(`\\b${uid}\\b`));

  const status = JSON.parse(await command('status', '--json')) as { readonly pid: number };
  assert.equal(status.pid, ready.pid);
  await command('trigger', 'long');
  daemon.child.kill('SIGTERM');
  assert.equal(await daemon.ended, 0);
  await assert.rejects(command('status'), (error: { code?: unknown }) => error.code === 69);
});

test('it starts the runtime with the flags that npm start has, whatever the environment says', async () => {
  const env = { PATH: process.env.PATH, NODE_OPTIONS: '--stack-trace-limit=3' };
  const { stdout } = await run(colibri, ['version', '--json'], { env });
  const { version, runtime, flags } = JSON.parse(stdout);
  assert.deepEqual(flags, RUNTIME_FLAGS);
  assert.equal(runtime, process.version);
  assert.equal((await run(colibri, ['version'], { env })).stdout, `colibri ${version}\n`);
});

test('it gives the pages of its own file back, however the system keeps a file that was just written', async (t) => {
  const cwd = tempDir(t);
  writeFileSync(
    join(cwd, 'colibri.yaml'),
    'metrics: { listen: null }\ntasks: [{ name: a, handler: noop }]\n',
  );
  const daemon = new BuiltDaemon(t, { command: colibri, args: ['run'], cwd });
  const { pid } = await daemon.line((line) => line.msg === 'ready');
  const [, fileKb] = /^RssFile:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  assert.ok(Number(fileKb) < 16 * 1024, `${fileKb} kB`);
});

test('wrong usage and a wrong config have their exit codes', async (t) => {
  const dir = tempDir(t);
  writeFileSync(join(dir, 'colibri.yaml'), 'tasks: [{ name: a, handler: nothing }]\n');
  for (const [args, code, message] of [
    [['no-such-command'], 2, /expected a command/],
    [['run'], 78, /colibri\.yaml:1:\d+: /],
  ] as const) {
    await assert.rejects(run(colibri, args, { cwd: dir }), (error: { code?: unknown; stderr?: string }) => {
      assert.match(error.stderr ?? '', message);
      return error.code === code;
    });
  }
});
