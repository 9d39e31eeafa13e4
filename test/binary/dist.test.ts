/** What `npm run build` makes: the parts and what is in them, their code caches, the launchers. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { after, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { originOf, PARTS, ROOT } from '../../scripts/bundle.ts';
import { nodeLauncher, shellLauncher } from '../../scripts/launchers.ts';
import { RUNTIME_FLAGS } from '../../scripts/runtime-flags.ts';
import { cacheFile, createParts, PART_HEAD, PART_TAIL } from '../../src/workers/threads/parts.ts';
import { putDist } from '../support/dist.ts';
import { withoutTypes } from '../support/program.ts';
import { tempDir } from '../support/temp-dir.ts';
import { BuiltDaemon } from './built-daemon.ts';

const WATCH = withoutTypes(join(import.meta.dirname, 'watch-parts.cts'));
const CONFIG = {
  metrics: { listen: null },
  tasks: [
    { name: 'minutely', handler: 'noop', schedule: '* * * * *', time_zone: 'Europe/Berlin' },
    { name: 'command', handler: 'command', with: { argv: ['env'] }, run_on_start: true },
    { name: 'digest', handler: 'hash', each: { files: './*.txt' }, every: '1h', run_on_start: true },
  ],
};

/** A package as npm installs it: `dist/` with the pinned runtime beside it. */
const installed = mkdtempSync(join(tmpdir(), 'colibri-installed-'));
after(() => rmSync(installed, { recursive: true, force: true }));
const dist = join(installed, 'dist');
const builtIn = await putDist(dist);
symlinkSync(join(ROOT, 'node_modules'), join(installed, 'node_modules'));

/** By the map of the part: packages and folders of the sources that it has code of. */
function contentsOf(name: string): ReadonlySet<string> {
  const map = join(dist, `${name}.js.map`);
  const { sources } = JSON.parse(readFileSync(map, 'utf8')) as { readonly sources: readonly string[] };
  return new Set(sources.map((file) => originOf(relative(ROOT, resolve(builtIn, file)))));
}

function folderWithConfig(t: Parameters<typeof tempDir>[0]): string {
  const dir = tempDir(t);
  writeFileSync(join(dir, 'colibri.yaml'), JSON.stringify(CONFIG));
  writeFileSync(join(dir, 'a.txt'), 'some text\n');
  // At rest long since, or the scan would wait for it.
  utimesSync(join(dir, 'a.txt'), 0, 0);
  return dir;
}

test('each part holds what it is for and nothing of the others', () => {
  const absent: Readonly<Record<string, readonly string[]>> = {
    main: ['yaml', 'cron-parser', 'piscina', 'pino', 'main/config', 'workers/files'],
    config: ['luxon', 'piscina', 'pino'],
    daemon: ['yaml', 'cron-parser', 'pino', 'main/config', 'workers/handlers'],
    flows: ['yaml', 'cron-parser', 'piscina', 'pino', 'main/config'],
    host: ['yaml', 'cron-parser', 'piscina', 'thread-stream'],
    'cpu-worker': ['yaml', 'cron-parser', 'pino'],
  };
  for (const name of PARTS) {
    const contents = contentsOf(name);
    assert.ok(contents.size > 2, name);
    for (const other of absent[name]!) assert.ok(!contents.has(other), `${name} holds ${other}`);
  }
  for (const [name, from] of [
    ['config', 'yaml'],
    ['config', 'cron-parser'],
    ['daemon', 'piscina'],
    ['host', 'pino'],
    ['cpu-worker', 'piscina'],
  ] as const) {
    assert.ok(contentsOf(name).has(from), `${name} lacks ${from}`);
  }
});

test('parts are ASCII: V8 keeps a byte for each of their characters', () => {
  for (const name of PARTS)
    assert.ok(!/[^\0-\x7f]/.test(readFileSync(join(dist, `${name}.js`), 'latin1')), name);
});

test('a start takes the code cache of each part, and what only loading the config needs is soon gone from memory', async (t) => {
  const daemon = new BuiltDaemon(t, {
    command: process.execPath,
    args: [...RUNTIME_FLAGS, '--require', WATCH, join(dist, 'colibri.js'), 'run'],
    cwd: folderWithConfig(t),
  });
  await daemon.line((line) => line.msg === 'ready');
  for (const name of ['main', 'config', 'daemon', 'host']) {
    assert.deepEqual(await daemon.line((line) => line.part === name), { part: name, cache: true });
  }
  await daemon.line((line) => line.part === 'cpu-worker');
  await daemon.line((line) => line.msg === 'run succeeded' && line.file === 'a.txt');
  await daemon.line((line) => line.freed === 'config');
  assert.equal(daemon.lines.filter((line) => line.part === 'cpu-worker').length, 1, 'once a thread');
  assert.ok(!daemon.lines.some((line) => line.part === 'flows'), 'there are none');
});

test('code caches of another kind of start are left alone', async (t) => {
  const daemon = new BuiltDaemon(t, {
    command: process.execPath,
    args: [...RUNTIME_FLAGS, '--no-lazy', '--require', WATCH, join(dist, 'colibri.js'), 'run'],
    cwd: folderWithConfig(t),
  });
  assert.equal((await daemon.line((line) => line.part === 'main')).cache, false);
  await daemon.line((line) => line.msg === 'run succeeded' && line.file === 'a.txt');
});

test('a config that is wrong is told from the built program, too, with its code and places', (t) => {
  const dir = tempDir(t);
  writeFileSync(
    join(dir, 'colibri.yaml'),
    'tasks:\n  - { name: a, handler: noop, schedule: "61 * * * *" }\n',
  );
  for (const command of ['check', 'run']) {
    const { status, stderr, stdout } = spawnSync(join(dist, 'colibri.sh'), [command], {
      cwd: dir,
      encoding: 'utf8',
    });
    assert.equal(status, 78, stderr);
    assert.match(stderr, /colibri\.yaml:2:\d+: /);
    assert.equal(stdout, '');
  }
});

test('npm start and the installed command start the runtime in the same way: by exec, with the same flags', async (t) => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    readonly scripts: { readonly start: string };
  };
  const start = scripts.start.replace(/ run --config .*$/, '');
  const bin = join(tempDir(t), 'colibri');
  symlinkSync(join(dist, 'colibri.sh'), bin);
  for (const command of [`${start} version --json`, `exec ${bin} version --json`]) {
    const text = execFileSync('sh', ['-c', command], { cwd: installed, encoding: 'utf8' });
    assert.deepEqual(JSON.parse(text).flags, RUNTIME_FLAGS, command);
  }
  const config = join(folderWithConfig(t), 'colibri.yaml');
  for (const command of [
    `${start} run --config ${config}`,
    `exec ${process.execPath} ${join(dist, 'colibri.js')} run --config ${config}`,
  ]) {
    const daemon = new BuiltDaemon(t, { command: 'sh', args: ['-c', command], cwd: installed });
    const ready = await daemon.line((line) => line.msg === 'ready');
    assert.equal(ready.pid, daemon.child.pid, 'no process in between');
    const given = readFileSync(`/proc/${ready.pid}/cmdline`, 'utf8').split('\0').slice(1);
    assert.deepEqual(given.slice(0, RUNTIME_FLAGS.length), RUNTIME_FLAGS, command);
    daemon.child.kill('SIGTERM');
    assert.equal(await daemon.ended, 0);
  }
});

test('ready_ms counts from the start of the launcher, and nobody else is told of that', async (t) => {
  const cwd = folderWithConfig(t);
  const [uptime = ''] = readFileSync('/proc/uptime', 'utf8').split(' ');
  const launched = String(Number(uptime) - 5);
  const launcher = join(dist, 'colibri.js');
  const daemon = new BuiltDaemon(t, {
    command: process.execPath,
    args: [...RUNTIME_FLAGS, launcher, 'run'],
    cwd,
    env: { COLIBRI_STARTED: launched },
  });
  const ready = await daemon.line((line) => line.msg === 'ready');
  assert.ok((ready.ready_ms as number) > 5000, `${ready.ready_ms}`);
  const run = await daemon.line((line) => line.task === 'command' && line.result !== undefined);
  const show = [launcher, 'show', run.run as string, '--json'];
  const shown = execFileSync(process.execPath, show, { cwd, encoding: 'utf8' });
  assert.match(shown, /PATH=/);
  assert.doesNotMatch(shown, /COLIBRI_STARTED/);
  assert.ok(!daemon.lines.some((line) => JSON.stringify(line).includes('COLIBRI_STARTED')));
});

test('an older runtime, and none at all, are refused with one sentence', (t) => {
  // Stands in for an older runtime: it has a version of its own and knows none of the flags.
  const dir = tempDir(t);
  const old = nodeLauncher(RUNTIME_FLAGS)
    .replaceAll('process.version', '({node:"20.1.0",toString:()=>"v20.1.0"})')
    .replaceAll('({node:"20.1.0",toString:()=>"v20.1.0"})s', '({node:"20.1.0"})');
  writeFileSync(join(dir, 'colibri.js'), old);
  const refused = spawnSync(process.execPath, [join(dir, 'colibri.js'), 'run'], { encoding: 'utf8' });
  assert.equal(refused.status, 2);
  assert.match(refused.stderr, /^colibri needs Node 26 or newer, got v20\.1\.0; [^\n]*\n$/);
  const alone = join(dir, 'alone');
  mkdirSync(alone);
  const launcher = join(alone, 'colibri.sh');
  writeFileSync(launcher, readFileSync(join(dist, 'colibri.sh')), { mode: 0o755 });
  const none = spawnSync('/bin/sh', [launcher, 'run'], {
    encoding: 'utf8',
    env: { PATH: toolsWithoutNode(t) },
  });
  assert.equal(none.status, 2);
  assert.match(none.stderr, /^colibri needs Node 26 or newer, found none; [^\n]*\n$/);
});

test('the command takes the pinned runtime that the system can start, and else one of its own', (t) => {
  const dir = join(tempDir(t), 'a folder');
  const launcher = join(dir, 'dist', 'colibri.sh');
  const fake = (file: string, name: string) => {
    mkdirSync(join(file, '..'), { recursive: true });
    writeFileSync(file, `#!/bin/sh\nprintf '%s\\n' ${name} "$@"\n`, { mode: 0o755 });
  };
  // A folder that was copied from a machine of the other kind, along with its modules.
  for (const kind of ['x64', 'arm64']) fake(join(dir, `node_modules/node-linux-${kind}/bin/node`), kind);
  fake(join(dir, 'path', 'node'), 'own');
  mkdirSync(join(dir, 'dist'));
  const ways = [
    { x64: '/bin/sh', arm64: '/bin/sh', flags: ['--flag'], taken: 'x64' },
    { x64: '/nowhere/ld.so', arm64: '/bin/sh', flags: ['--flag'], taken: 'arm64' },
    { x64: '/nowhere/ld.so', arm64: '/nowhere/ld.so', flags: [], taken: 'own' },
  ];
  for (const { x64, arm64, flags, taken } of ways) {
    writeFileSync(launcher, shellLauncher(['--flag'], { x64, arm64 }), { mode: 0o755 });
    const env = { PATH: join(dir, 'path') };
    const { stdout } = spawnSync(launcher, ['show', 'a b', ''], { encoding: 'utf8', env });
    const given = [taken, ...flags, join(dir, 'dist', 'colibri.js'), 'show', 'a b', ''];
    assert.deepEqual(stdout.split('\n').slice(0, -1), given);
  }
});

/** A folder for PATH with the tools that a shell script may count on. */
function toolsWithoutNode(t: Parameters<typeof tempDir>[0]): string {
  const dir = tempDir(t);
  for (const tool of ['dirname', 'readlink']) {
    symlinkSync(
      execFileSync('sh', ['-c', `command -v ${tool}`], { encoding: 'utf8' }).trim(),
      join(dir, tool),
    );
  }
  return dir;
}

test('threads are of the build that the process was started from, whatever lies in its place, also nothing', async (t) => {
  const folder = tempDir(t);
  const loader = readFileSync(join(dist, 'parts.js'), 'utf8');
  const write = (build: string, caches: Readonly<Record<string, string>> = {}) => {
    const said = `require('node:worker_threads').parentPort.postMessage('${build}')`;
    const part = `${PART_HEAD}${said}${PART_TAIL}`;
    const files = { 'parts.js': loader, 'first.js': part, 'later.js': part, ...caches };
    for (const [name, text] of Object.entries(files)) {
      writeFileSync(join(folder, `${name}.part`), text);
      renameSync(join(folder, `${name}.part`), join(folder, name));
    }
  };
  write('old');
  const parts = createParts(folder);
  const said = async (name: string) => {
    const worker = new Worker(parts.threadCode(name), { eval: true });
    const [message] = await once(worker, 'message');
    await worker.terminate();
    return message;
  };
  assert.equal(await said('first'), 'old');
  write('new', { [cacheFile('later')]: 'of another build' });
  assert.equal(await said('later'), 'old');
  for (const name of readdirSync(folder)) rmSync(join(folder, name));
  assert.deepEqual([await said('later'), await said('first')], ['old', 'old']);
});
