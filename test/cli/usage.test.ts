import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ColibriError, ERROR_CODES } from '../../src/actors/kernel/index.ts';
import { exitCodeOf } from '../../src/main/cli/exit-codes.ts';
import { cliRig } from './fixtures.ts';

const COMMANDS = [
  'run',
  'check',
  'trigger',
  'tasks',
  'runs',
  'show',
  'cancel',
  'dead',
  'audit',
  'backup',
  'reload',
  'status',
  'size',
  'version',
];

test('no command is wrong usage and shows the help; asking for help is not', async () => {
  const cli = cliRig();
  const nothing = await cli.run();
  assert.equal(nothing.code, 2);
  assert.equal(nothing.out, '');
  for (const argv of [['help'], ['--help'], ['-h']]) {
    const { code, out } = await cli.run(...argv);
    assert.equal(code, 0);
    for (const name of COMMANDS) assert.match(out, new RegExp(`^  ${name} +\\S`, 'm'));
    assert.match(out, /69 {2}no daemon answers/);
    assert.equal(nothing.err, out);
  }
});

test('each command explains itself with an example, and needs no config for it', async () => {
  const cli = cliRig();
  for (const name of COMMANDS) {
    const { code, out } = await cli.run(name, '--help');
    assert.equal(code, 0, name);
    assert.match(out, new RegExp(`^Usage: colibri ${name}`, 'm'));
    assert.match(out, /^Examples:\n {2}\S/m);
    assert.equal((await cli.run('help', name)).out, out);
  }
  assert.deepEqual(cli.loaded, []);
});

test('help is wrapped between words at the width of the terminal', async () => {
  const cli = cliRig();
  for (const name of ['', ...COMMANDS]) {
    cli.columns = 80;
    const { out } = await cli.run('help', ...(name === '' ? [] : [name]));
    const wide = out.split('\n').filter((line) => line.length > 80 && !line.startsWith('  colibri '));
    assert.deepEqual(wide, []);
    cli.columns = 50;
    const narrow = (await cli.run('help', ...(name === '' ? [] : [name]))).out;
    assert.equal(narrow.replace(/\s+/g, ' '), out.replace(/\s+/g, ' '));
  }
});

test('what does not fit ends with 2, says what would, and suggests', async () => {
  const cli = cliRig();
  const cases: [string[], RegExp][] = [
    [['trigge', 'x'], /did you mean "trigger"\?[\s\S]*`colibri help` lists/],
    [['help', 'stauts'], /did you mean "status"/],
    [
      ['runs', '--tsak', 'x'],
      /expected a flag of this command, got --tsak; did you mean "--task"\?[\s\S]*`colibri help runs`/,
    ],
    [['runs', '-x'], /got -x/],
    [['-c', 'my.yaml', 'status'], /got -c; did you mean "--config"\?[\s\S]*`colibri help status`/],
    [['runs', '--limit', '0'], /--limit: expected a whole number from 1 to 1000, got "0"/],
    [['runs', '--limit'], /--limit: expected a value \(N\), got none/],
    [['runs', '--state', 'faild'], /did you mean "failed"/],
    [['runs', 'extra'], /expected no argument, got "extra" more/],
    [['status', '--json=yes'], /--json: expected no value, got "yes"/],
    [['show'], /expected RUN, got nothing/],
    [['trigger', 'a', 'b'], /expected one TASK, got "b" more/],
    [['trigger', 'a', '--payload', '{'], /--payload: expected JSON/],
    [['trigger', 'a', '--payload', '@none.json'], /expected a file that can be read, got ENOENT/],
    [['dead'], /expected list, replay or purge, got nothing/],
    [['dead', 'purg'], /did you mean "purge"/],
    [
      ['dead', 'purge'],
      /expected run ids, or --all, or some of --task, --since and --until, got none of them/,
    ],
    [['dead', 'replay', 'r', '--all'], /got 2 of these three/],
    [['dead', 'replay', '--all', '--since', '1h'], /got 2 of these three/],
    [['dead', 'replay', 'r', '--task', 'a', '--all'], /got 3 of these three/],
    [
      ['dead', 'list', '--since', 'yesterday'],
      /--since: expected an instant with its zone, such as .* got "yesterday"/,
    ],
    [['dead', 'purge', '--until', '2026-02-30T00:00:00Z'], /--until: expected an instant/],
    [
      ['dead', 'purge', '--since', '1h', '--until', '2h'],
      /--since: expected a time before --until, got 2026-01-01T11/,
    ],
    [['backup'], /expected FILE, got nothing/],
    [['backup', 'a', 'b'], /expected one FILE, got "b" more/],
    [['audit', 'x'], /expected no argument/],
    [['audit', '-n', '1001'], /--limit: expected a whole number from 1 to 1000/],
  ];
  for (const [argv, message] of cases) {
    const { code, out, err } = await cli.run(...argv);
    assert.equal(code, 2, argv.join(' '));
    assert.equal(out, '');
    assert.match(err, message);
  }
  assert.deepEqual(cli.loaded, []);
});

test('flags may stand before the command; -- ends them', async () => {
  const cli = cliRig();
  const { code, out } = await cli.run('--json', 'version');
  assert.equal(code, 0);
  assert.equal(JSON.parse(out).version, '1.2.3');
  assert.equal((await cli.run('--version')).out, 'colibri 1.2.3\n');
  assert.equal((await cli.run('--config', 'my.yaml', 'status')).code, 69);
  assert.equal((await cli.run('status', '--config=/etc/x.yaml')).code, 69);
  assert.match((await cli.run('--limit', '0', 'runs')).err, /--limit: expected a whole number/);
  assert.deepEqual(cli.loaded, ['/work dir/my.yaml', '/etc/x.yaml']);
  assert.match((await cli.run('show', '--', '--odd')).err, /no-daemon|expected a daemon/);
});

test('no daemon: 69, with what to do; with --json one document', async () => {
  const cli = cliRig();
  const plain = await cli.run('status');
  assert.equal(plain.code, 69);
  assert.match(
    plain.err,
    /expected a daemon to answer at \/nowhere\/control\.sock, got ENOENT; start one with `colibri run`/,
  );
  const json = await cli.run('status', '--json');
  assert.equal(json.code, 69);
  assert.equal(JSON.parse(json.out).error.code, 'no-daemon');
  assert.equal(json.err, '');
});

test('a config that is wrong: 78, its problems at the start of the line; none at all: 78', async () => {
  const cli = cliRig();
  const problems = [{ file: 'a.yaml', line: 3, column: 5, message: 'expected x' }];
  const broken = Object.assign(new ColibriError('config-invalid', 'a.yaml:3:5: expected x'), { problems });
  cli.deps = {
    loadConfig: async () => {
      throw broken;
    },
  };
  for (const name of ['check', 'status', 'run']) {
    const { code, err } = await cli.run(name);
    assert.equal(code, 78);
    assert.equal(err, 'a.yaml:3:5: expected x\n');
  }
  const json = JSON.parse((await cli.run('check', '--json')).out);
  assert.deepEqual(json.problems, problems);
  assert.equal(json.ok, false);
  cli.deps = { findConfigFile: async () => null };
  const none = await cli.run('status');
  assert.equal(none.code, 78);
  assert.match(
    none.err,
    /\/work dir\/colibri\.yaml or \/etc\/colibri\/config\.yaml, got none; name one with --config/,
  );
});

test('check says ok and shows warnings', async () => {
  const cli = cliRig();
  const good = await cli.run('check');
  assert.deepEqual([good.code, good.out], [0, '/work dir/colibri.yaml: ok, 2 tasks\n']);
  const warnings = [{ file: 'a.yaml', line: 1, column: 2, message: 'odd' }];
  cli.deps = { loadConfig: async () => ({ config: { tasks: [], flows: [] } as never, warnings }) };
  assert.match((await cli.run('check')).out, /^warning: a\.yaml:1:2: odd\n/);
  assert.deepEqual(JSON.parse((await cli.run('check', '--json')).out), {
    ok: true,
    file: '/work dir/colibri.yaml',
    tasks: 0,
    flows: 0,
    problems: [],
    warnings,
  });
});

test('run hands the config to the daemon and ends with its code', async () => {
  const cli = cliRig();
  const given: unknown[] = [];
  cli.deps = {
    runDaemon: async (options) => {
      given.push(options.config.stateDir);
      return 0;
    },
  };
  assert.equal((await cli.run('run')).code, 0);
  assert.deepEqual(given, ['/nowhere']);
  const ends = { 'state-dir-held': 75, 'listen-failed': 78, 'store-failed': 1, internal: 1 } as const;
  for (const [name, code] of Object.entries(ends)) {
    cli.deps = {
      runDaemon: async () => {
        throw new ColibriError(name as keyof typeof ends, 'why');
      },
    };
    assert.deepEqual(await cli.run('run'), { code, out: '', err: 'colibri: why\n' });
  }
});

test('run leaves warnings to the daemon, which says them once', async () => {
  const cli = cliRig();
  const warnings = [{ file: 'a.yaml', line: 1, column: 2, message: 'odd' }];
  const given: unknown[] = [];
  cli.deps = {
    loadConfig: async () => ({ config: { tasks: [] } as never, warnings }),
    runDaemon: async (options) => {
      given.push(options.warnings);
      return 0;
    },
  };
  assert.deepEqual(await cli.run('run'), { code: 0, out: '', err: '' });
  assert.deepEqual(given, [warnings]);
});

test('every error code has one of the published exit codes', () => {
  for (const code of Object.keys(ERROR_CODES)) {
    assert.ok([1, 2, 69, 75, 78].includes(exitCodeOf(code as keyof typeof ERROR_CODES)));
  }
});
