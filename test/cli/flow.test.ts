/** `colibri flow`: what is asked of the daemon, and how flows are drawn. */
import assert from 'node:assert/strict';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { ColibriError } from '../../src/actors/kernel/index.ts';
import type { FlowStepView, FlowView } from '../../src/actors/views/run-view.ts';
import { displayWidth } from '../../src/main/cli/render/text.ts';
import type { Config } from '../../src/main/config/config.ts';
import { controlRig, runView } from '../control/fixtures.ts';
import { cliRig, NOW } from './fixtures.ts';

const RUN = 'nightly@2026-01-01T11:59:00Z';

function step(name: string, more: Partial<FlowStepView> = {}): FlowStepView {
  return {
    step: name,
    dependsOn: [],
    each: null,
    state: 'pending',
    reason: null,
    cause: null,
    detail: null,
    startedAtMs: null,
    endedAtMs: null,
    items: null,
    forgotten: 0,
    againBehind: null,
    ...more,
  };
}

const VIEW: FlowView = {
  run: runView(RUN, {
    task: 'nightly',
    state: 'running',
    startedAtMs: NOW - 5100,
    durationMs: null,
    endedAtMs: null,
  }),
  end: null,
  onFailure: null,
  againOf: null,
  steps: [
    step('pull', { state: 'success', reason: 'done', startedAtMs: NOW - 5000, endedAtMs: NOW - 3000 }),
    step('check', {
      dependsOn: ['pull'],
      state: 'failed',
      reason: 'not-expected',
      detail: 'result: expected at least 1 row, got 0',
      startedAtMs: NOW - 3000,
      endedAtMs: NOW - 2960,
    }),
    step('sum', { dependsOn: ['check'], state: 'skipped', reason: 'upstream', cause: 'check' }),
    step('each', {
      dependsOn: ['pull'],
      each: 4,
      state: 'running',
      startedAtMs: NOW - 1000,
      items: { size: 9, succeeded: 3, failed: 1, cancelled: 2 },
    }),
  ],
};

test('show draws the steps stage by stage, and the graph for other programs', async (t) => {
  const { socketPath, asked } = await controlRig(t, { runs: { 'flow-show': () => VIEW } });
  const cli = cliRig(socketPath);
  cli.isTTY = true;
  cli.columns = 120;
  cli.env.NO_COLOR = '1';
  const { code, out } = await cli.run('flow', 'show', RUN);
  assert.equal(code, 0);
  assert.deepEqual(out.split('\n'), [
    `${RUN}  running  5.1 s`,
    '1  ✓ pull   success    2.0 s',
    '2  ✗ check  failed     40 ms  ← pull  · not as expected: result: expected at least 1 row, got 0',
    '   ▶ each   running    1.0 s  ← pull  · 3 of 9 items, 1 failed, 2 cancelled',
    '3  - sum    skipped        -  ← check  · check did not succeed',
    '',
  ]);
  assert.match((await cli.run('flow', 'show', RUN, '--dot')).out, /^digraph "nightly" \{\n/);
  assert.match((await cli.run('flow', 'show', RUN, '--mermaid')).out, /^flowchart LR\n {2}s0\["pull<br\/>/);
  const { steps, end } = JSON.parse((await cli.run('flow', 'show', RUN, '--json')).out);
  assert.deepEqual([steps[2].cause, steps[3].items.size, end], ['check', 9, null]);
  assert.deepEqual(asked[0], { actor: 'runs', kind: 'flow-show', body: { run: RUN } });
});

test('what the task of on_failure came to is a line below the steps', async (t) => {
  const onFailure = runView(`${RUN}/:on_failure`, {
    task: 'alarm',
    state: 'failed',
    error: { code: 'handler-failed', message: 'no mail server' },
  });
  const view = { ...VIEW, onFailure };
  const { socketPath } = await controlRig(t, { runs: { 'flow-show': () => view } });
  const cli = cliRig(socketPath);
  const piped = (await cli.run('flow', 'show', RUN)).out.trimEnd().split('\n').at(-1)!.split('\t');
  assert.deepEqual(
    [...piped.slice(0, 3), piped.at(-1)],
    ['on_failure', 'alarm', 'failed', 'handler-failed: no mail server'],
  );
  assert.equal(piped.length, 8, 'as many fields as a step has');
  const { on_failure: shown } = JSON.parse((await cli.run('flow', 'show', RUN, '--json')).out);
  assert.deepEqual([shown.run, shown.error.code], [`${RUN}/:on_failure`, 'handler-failed']);
  cli.isTTY = true;
  cli.env.NO_COLOR = '1';
  const line = (await cli.run('flow', 'show', RUN)).out.trimEnd().split('\n').at(-1)!;
  assert.match(line, /^on_failure {2}alarm {2}failed {2}.*· handler-failed: no mail server$/);
});

test('a run again says of which one, also in show', async (t) => {
  const first = 'nightly@2026-01-01T10:00:00Z';
  const run = runView(RUN, { task: 'nightly', note: '{}' });
  const { socketPath } = await controlRig(t, {
    runs: { 'flow-show': () => ({ ...VIEW, run, againOf: first }), 'show-live': () => run },
    store: { 'audit-list': () => [] },
  });
  const cli = cliRig(socketPath);
  assert.equal(JSON.parse((await cli.run('flow', 'show', RUN, '--json')).out).again_of, first);
  assert.equal(JSON.parse((await cli.run('show', RUN, '--json')).out).again_of, first);
  assert.ok((await cli.run('show', RUN)).out.split('\n').includes(`again of  ${first}`));
  cli.isTTY = true;
  cli.env.NO_COLOR = '1';
  assert.equal((await cli.run('flow', 'show', RUN)).out.split('\n')[1], `again of ${first}`);
});

test('show of the run of a step says where the step ended otherwise', async (t) => {
  const ended = { state: 'success', endedAtMs: NOW, flow: RUN } as const;
  const runOf = (name: string) => runView(`${RUN}/${name}`, { task: name, ...ended });
  const { socketPath } = await controlRig(t, {
    runs: {
      'flow-show': () => VIEW,
      'show-live': (body) => runOf((body as { run: string }).run.slice(RUN.length + 1)),
    },
    store: { 'audit-list': () => [] },
  });
  const cli = cliRig(socketPath);
  const lines = async (name: string) =>
    (await cli.run('show', `${RUN}/${name}`)).out.split('\n').filter((line) => line.startsWith('step'));
  assert.deepEqual(await lines('check'), [
    'step      failed, not-expected: result: expected at least 1 row, got 0',
  ]);
  assert.deepEqual(await lines('pull'), [], 'as its run did');
  assert.deepEqual(await lines('each[0]'), [], 'an item is no step');
  const { step: shown } = JSON.parse((await cli.run('show', `${RUN}/pull`, '--json')).out);
  assert.deepEqual(shown, { name: 'pull', state: 'success', reason: 'done', detail: null });
});

test('of a flow that is gone the run of a step is shown alone', async (t) => {
  const { socketPath } = await controlRig(t, {
    runs: {
      'flow-show': () => {
        throw new ColibriError('no-such-run', 'gone');
      },
      'show-live': () => runView(`${RUN}/pull`, { task: 'pull', flow: RUN }),
    },
    store: { 'audit-list': () => [] },
  });
  const { step: shown, again_of: of } = JSON.parse(
    (await cliRig(socketPath).run('show', `${RUN}/pull`, '--json')).out,
  );
  assert.deepEqual([shown, of], [null, null]);
});

test('on a terminal no line is wider than it, painted or not; why the flow ended is told whole, after how long it took', async (t) => {
  const end = `failed: step check failed: ${'expected at least 3 rows, got 2; '.repeat(5)}`.trim();
  const run = { ...VIEW.run, state: 'failed', endedAtMs: NOW, durationMs: 5100 } as const;
  const steps = VIEW.steps!.map((one) => (one.step === 'check' ? { ...one, detail: end } : one));
  const { socketPath } = await controlRig(t, { runs: { 'flow-show': () => ({ ...VIEW, run, end, steps }) } });
  const cli = cliRig(socketPath);
  cli.isTTY = true;
  for (const columns of [12, 30, 50, 80, 400]) {
    cli.columns = columns;
    const painted = (await cli.run('flow', 'show', RUN)).out;
    cli.env.NO_COLOR = '1';
    const { out } = await cli.run('flow', 'show', RUN);
    delete cli.env.NO_COLOR;
    assert.notEqual(painted, out);
    assert.equal(stripVTControlCharacters(painted), out);
    const lines = out.trimEnd().split('\n');
    for (const line of lines) assert.ok(displayWidth(line) <= columns, line);
    // Colours do not run on into what follows.
    for (const line of painted.split('\n')) {
      assert.doesNotMatch(line, /\x1b\[[1-9]\d*m(?!.*\x1b\[0m)/);
    }
    if (columns < 50) continue;
    const told = lines.slice(
      0,
      lines.findIndex((line) => line.startsWith('1 ')),
    );
    assert.equal(told[0], `${RUN}  failed  5.1 s`);
    assert.equal(told.slice(1).join(' '), end.slice('failed: '.length));
  }
});

test('in a pipe a step is a line with the full texts, exact times, and the same fields for each', async (t) => {
  const { socketPath } = await controlRig(t, { runs: { 'flow-show': () => VIEW } });
  const { out } = await cliRig(socketPath).run('flow', 'show', RUN);
  const at = (ms: number) => new Date(NOW + ms).toISOString();
  const why = 'not as expected: result: expected at least 1 row, got 0';
  assert.deepEqual(
    out.split('\n').map((line) => line.split('\t')),
    [
      ['flow', RUN, 'running', at(-5100), '-', '-', '-', '-'],
      ['1', 'pull', 'success', at(-5000), at(-3000), '-', '-', '-'],
      ['2', 'check', 'failed', at(-3000), at(-2960), '-', 'pull', why],
      ['2', 'each', 'running', at(-1000), '-', '3/9', 'pull', '-'],
      ['3', 'sum', 'skipped', '-', '-', '-', 'check', 'check did not succeed'],
      [''],
    ],
  );
});

test('in a pipe the flow itself has the first line, with the error that ended it; also where its steps are not kept', async (t) => {
  const run = { ...VIEW.run, state: 'failed', endedAtMs: NOW, durationMs: 5100 } as const;
  const end = 'failed: step check failed: no\tluck';
  const { socketPath } = await controlRig(t, {
    runs: {
      'flow-show': ({ run: id }: { run: string }) => ({
        ...VIEW,
        run,
        end,
        steps: id === RUN ? VIEW.steps : [],
      }),
    },
  });
  const cli = cliRig(socketPath);
  for (const id of [RUN, `${RUN}.2`]) {
    const [first] = (await cli.run('flow', 'show', id)).out.split('\n');
    const times = [new Date(NOW - 5100).toISOString(), new Date(NOW).toISOString()];
    const why = 'step check failed: no\\tluck';
    assert.deepEqual(first!.split('\t'), ['flow', RUN, 'failed', ...times, '-', '-', why]);
  }
});

test('run, rerun and cancel are asked of the daemon, and are in the trail', async (t) => {
  const { socketPath, asked, trail } = await controlRig(t, {
    runs: {
      trigger: () => ({ run: RUN, ended: null }),
      'flow-rerun': () => ({
        run: `${RUN}.2`,
        forgotten: [{ step: 'mail', results: 3 }],
        againBehind: [
          { step: 'sum', items: null, behind: 'mail' },
          { step: 'tell', items: 6, behind: 'mail' },
        ],
      }),
      cancel: () => ({ state: 'running' }),
    },
  });
  const cli = cliRig(socketPath);
  const steps = [{ task: 'pull', dependsOn: [], onUpstreamFailure: 'skip', each: null }];
  const config = { stateDir: dirname(socketPath), tasks: [], flows: [{ name: 'nightly', steps }] };
  cli.deps = { loadConfig: async () => ({ config: config as unknown as Config, warnings: [] }) };
  assert.equal((await cli.run('flow', 'run', 'nightly', '--payload', '{"day":1}')).out, `${RUN}\n`);
  const again = await cli.run('flow', 'rerun', RUN);
  assert.deepEqual(
    [again.out, again.err],
    [
      `${RUN}.2\n`,
      'mail: 3 results were forgotten and are made anew\n' +
        'sum: had succeeded and runs again, as mail is made anew\n' +
        'tell: 6 items had succeeded and run again, as mail is made anew\n',
    ],
  );
  await cli.run('flow', 'rerun', RUN, '--failed');
  await cli.run('flow', 'rerun', RUN, '--from', 'sum');
  assert.equal((await cli.run('flow', 'cancel', RUN)).out, 'told to stop\n');
  assert.equal((await cli.run('flow', 'show', 'nightly')).out, '1\tpull\t-\t-\t-\t-\t-\t-\n');
  cli.isTTY = true;
  assert.equal((await cli.run('flow', 'show', 'nightly')).out, '1  pull\n');
  assert.deepEqual(
    asked.map(({ kind, body }) => [kind, body]),
    [
      ['trigger', { task: 'nightly', payload: '{"day":1}', wait: false, force: false, dueAtMs: null }],
      ['flow-rerun', { run: RUN, choice: { kind: 'whole' } }],
      ['flow-rerun', { run: RUN, choice: { kind: 'failed' } }],
      ['flow-rerun', { run: RUN, choice: { kind: 'step', step: 'sum' } }],
      ['cancel', { run: RUN }],
    ],
  );
  assert.deepEqual(
    trail.map(({ action, target }) => [action, target]),
    [
      ['trigger', 'nightly'],
      ['flow rerun', RUN],
      ['flow rerun', RUN],
      ['flow rerun', RUN],
      ['cancel', RUN],
    ],
  );
});

test('what does not fit is wrong usage, and says what would', async () => {
  const cli = cliRig();
  const cases: [string[], RegExp][] = [
    [['flow'], /expected run, show, rerun or cancel, got nothing/],
    [['flow', 'run'], /expected FLOW after `flow run`, got nothing/],
    [['flow', 'show'], /expected FLOW or RUN after `flow show`, got nothing/],
    [['flow', 'rerun', '--failed'], /expected RUN after `flow rerun`, got nothing/],
    [['flow', 'cancel', 'x', 'y'], /expected one RUN after `flow cancel`, got "y" more/],
    [['flow', 'shwo', 'x'], /did you mean "show"/],
    [['flow', 'show', 'x', '--failed'], /--failed: expected flow rerun, got flow show/],
    [['flow', 'show', RUN, '--dot', '--mermaid'], /got --dot and --mermaid/],
    [['flow', 'show', RUN, '--dot', '--json'], /^$/],
    [['flow', 'show', 'x', '--mermaid', '--json'], /^$/],
    [['flow', 'rerun', RUN, '--failed', '--from', 'a'], /got both/],
  ];
  for (const [argv, message] of cases) {
    const { code, err } = await cli.run(...argv);
    assert.equal(code, 2, argv.join(' '));
    assert.match(err, message);
  }
});

test('the daemon refuses what is no wrong usage: exit code 1, without the hint at the help', async (t) => {
  const { socketPath } = await controlRig(t, {
    runs: {
      'flow-rerun': () => {
        throw new ColibriError('rerun-refused', 'expected a run that is over, got one that is running');
      },
    },
  });
  const { code, err } = await cliRig(socketPath).run('flow', 'rerun', RUN, '--failed');
  assert.equal(code, 1);
  assert.equal(err, 'colibri: expected a run that is over, got one that is running\n');
});

test('what is no flow of the config is told with what there is for it', async () => {
  const cli = cliRig();
  const config = { stateDir: '/nowhere', tasks: [{ name: 'pull' }], flows: [{ name: 'nightly', steps: [] }] };
  cli.deps = { loadConfig: async () => ({ config: config as unknown as Config, warnings: [] }) };
  const cases: [string[], RegExp][] = [
    [['flow', 'run', 'pull'], /got "pull", which is a task; `colibri trigger pull` runs it$/m],
    [['flow', 'show', 'pull'], /got "pull", which is a task; `colibri runs --task pull` lists its runs$/m],
    [['flow', 'run', 'nihgtly'], /name of a flow in the config, got "nihgtly"; did you mean "nightly"\?$/m],
    [['flow', 'show', 'xyz'], /got "xyz"; `colibri tasks` lists them, with the kind flow$/m],
  ];
  for (const [argv, message] of cases) {
    const { code, err } = await cli.run(...argv);
    assert.equal(code, 1, argv.join(' '));
    assert.match(err, message);
  }
});
