/** `flows:` in a config: what it becomes, and each problem at its place. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load, problemsOf, warningsOf } from './config-fixtures.ts';

/** Six lines of tasks, then the flows from line 7. */
const withTasks = (flows: string): string =>
  `tasks:
  - { name: pull, handler: command, with: { argv: [ echo ] }, max_retry: 2, timeout_seconds: 5 }
  - { name: nap, handler: sleep, with: { ms: 1 } }
  - { name: pack, handler: hash }
  - { name: many, handler: hash, each: { files: "./inbox/*" } }
  - { name: tell, handler: noop }
flows:
${flows}`;

test('a flow with all that it may say', async () => {
  const { config } = await load(
    withTasks(`  - name: nightly
    schedule: "0 2 * * *"
    time_zone: Europe/Berlin
    overlap: queue-one
    timeout_seconds: 60
    on_failure: { task: tell, with: { of: "{{ flow.run }}" } }
    steps:
      - { task: pull, timeout_seconds: 9, priority: 7 }
      - task: nap
        depends_on: [ pull ]
        on_upstream_failure: run
        with: { ms: "{{ item }}" }
        each: { list: "{{ steps.pull.result.rows }}", concurrency: 3, on_item_failure: continue }
      - { task: pack, depends_on: [ pull ], with: { path: ./in/a.txt }, expect: { min_rows: 1 } }
`),
  );
  const [flow] = config.flows;
  const { schedule, steps, ...rest } = flow!;
  assert.equal(schedule?.kind, 'cron');
  assert.deepEqual(rest, {
    name: 'nightly',
    timeoutMs: 60_000,
    onFailure: { task: 'tell', with: { of: '{{ flow.run }}' } },
    misfire: { policy: 'run-once', graceMs: null, max: 100 },
    overlap: 'queue-one',
    splayMs: 0,
    runOnStart: false,
    priority: 0,
  });
  assert.deepEqual(steps, [
    {
      task: 'pull',
      dependsOn: [],
      onUpstreamFailure: 'skip',
      each: null,
      with: null,
      expect: null,
      limits: {
        timeoutMs: 9000,
        maxRetry: 2,
        backoff: { kind: 'scaled', baseMs: 1000, capMs: 60_000 },
        priority: 7,
      },
    },
    {
      task: 'nap',
      dependsOn: ['pull'],
      onUpstreamFailure: 'run',
      each: { list: '{{ steps.pull.result.rows }}', concurrency: 3, onFailure: 'continue' },
      with: { ms: '{{ item }}' },
      expect: null,
      limits: null,
    },
    {
      task: 'pack',
      dependsOn: ['pull'],
      onUpstreamFailure: 'skip',
      each: null,
      with: { path: '/etc/app/in/a.txt' },
      expect: { min_rows: 1 },
      limits: null,
    },
  ]);
});

const PROBLEMS: readonly (readonly [flow: string, ...expected: string[]])[] = [
  ['  - { name: f, steps: [] }', 'c.yaml:8:23: flows[0] (f).steps: expected at least one step, got none'],
  [
    '  - { name: tell, steps: [ { task: nap } ] }',
    'c.yaml:8:13: flows[0] (tell).name: expected a name that no other flow or task has, got "tell", which is at c.yaml:6 too',
  ],
  [
    '  - { name: f, steps: [ { task: pul } ] }',
    'c.yaml:8:33: flows[0] (f).steps[0].task: expected the name of a task, got "pul"; did you mean "pull"?',
  ],
  [
    '  - name: f\n    steps:\n      - { task: pull, depends_on: [ tell ] }\n      - { task: nap, depends_on: [ pull ] }\n      - { task: tell, depends_on: [ nap ] }',
    'c.yaml:10:37: flows[0] (f).steps[0].depends_on[0]: expected steps that do not wait for each other, got a cycle: pull → nap → tell → pull; remove one of these dependencies',
  ],
  [
    '  - { name: f, steps: [ { task: pull, depends_on: [ pull ] } ] }',
    'c.yaml:8:53: flows[0] (f).steps[0].depends_on[0]: expected another step, got the step itself: pull → pull; remove it',
  ],
  [
    '  - { name: f, steps: [ { task: pull, depends_on: [ nap ] } ] }',
    'c.yaml:8:53: flows[0] (f).steps[0].depends_on[0]: expected a step of this flow, got "nap"; add it to the steps: { task: nap }',
  ],
  [
    '  - { name: f, steps: [ { task: pull }, { task: nap, with: { ms: "{{ steps.pull.result.n }}" } } ] }',
    'c.yaml:8:66: flows[0] (f).steps[1].with.ms: expected a step that is over when this one starts, got "pull"; add pull to depends_on',
  ],
  [
    '  - { name: f, steps: [ { task: nap, with: { ms: many } } ] }',
    'c.yaml:8:50: flows[0] (f).steps[0].with.ms: expected a number ≥ 0, got "many"',
  ],
  [
    '  - { name: f, steps: [ { task: nap, with: { sm: 1 } } ] }',
    'c.yaml:8:46: flows[0] (f).steps[0].with.sm: unknown key "sm"; did you mean "ms"?',
  ],
  [
    '  - { name: f, steps: [ { task: many } ] }',
    'c.yaml:8:33: flows[0] (f).steps[0].task: expected a task with one run, got "many", which has a run for each file; give the step a task without each',
  ],
  [
    '  - { name: f, steps: [ { task: nap, priority: 1001 } ] }',
    'c.yaml:8:48: flows[0] (f).steps[0].priority: expected an integer from -1000 to 1000, got 1001',
  ],
  [
    '  - { name: f, on_failure: { task: tel }, steps: [ { task: nap } ] }',
    'c.yaml:8:36: flows[0] (f).on_failure.task: expected the name of a task, got "tel"; did you mean "tell"?',
  ],
  [
    '  - { name: f, schedule: "0 0 30 2 *", steps: [ { task: nap, expect: { min_rows: 3, max_rows: 2 } } ] }',
    'c.yaml:8:26: flows[0] (f).schedule: ',
    'c.yaml:8:95: flows[0] (f).steps[0].expect.max_rows: expected at least min_rows (3), got 2',
  ],
  [
    '  - { name: f, steps: [ { task: nap, each: { list: "{{ payload.all }}" }, expect: { min_rows: 3 } } ] }',
    'c.yaml:8:83: flows[0] (f).steps[0].expect: expected expect at a step with one run, got it beside each; look at the result in a step behind it',
  ],
  [
    '  - { name: f, steps: [ { task: nap, expect: {} } ] }',
    'c.yaml:8:46: flows[0] (f).steps[0].expect: expected schema, min_rows, max_rows or max_change_percent, got none; remove expect or add one',
  ],
  [
    '  - { name: f, steps: [ { task: nap, expect: { min_row: 1 } } ] }',
    'c.yaml:8:48: flows[0] (f).steps[0].expect.min_row: unknown key "min_row"; did you mean "min_rows"?',
  ],
];

for (const [flow, ...expected] of PROBLEMS) {
  test(expected[0]!, async () => {
    const found = await problemsOf(withTasks(`${flow}\n`));
    assert.equal(found.length, expected.length, found.join('\n'));
    for (const [index, text] of expected.entries()) assert.ok(found[index]!.startsWith(text), found[index]!);
  });
}

test('advice about a template leads nowhere that is worse', async () => {
  const lines = await problemsOf(
    withTasks(`  - name: f
    on_failure: { task: tell, with: { of: "{{ steps.pull.result.id }}", all: "{{ steps }}" } }
    steps:
      - { task: pull, with: { argv: [ "{{ steps.pull.result }}", "{{ steps.nap.run }}", "{{ steps.tell.run }}" ] } }
      - { task: nap, depends_on: [ pull ], each: { list: "{{ item.rows }}" } }
      - { task: tell }
`),
  );
  const expected = 'expected a step that is over when this one starts, got';
  const failure =
    'on_failure runs whatever became of the steps; name flow.failed_step and flow.error, or add a step with on_upstream_failure: run';
  for (const text of [
    `:11:39: flows[0] (f).steps[0].with.argv[0]: ${expected} "pull", which is this step; name one before it`,
    `:11:66: flows[0] (f).steps[0].with.argv[1]: ${expected} "nap", which waits for this one; name one before it`,
    `:11:89: flows[0] (f).steps[0].with.argv[2]: ${expected} "tell"; add tell to depends_on`,
    `flows[0] (f).steps[1].each.list: expected payload or steps, got item, which this list is to give; name a list`,
    `:9:43: flows[0] (f).on_failure.with.of: expected payload or flow, got "steps.pull": ${failure}`,
    `:9:78: flows[0] (f).on_failure.with.all: expected payload or flow, got "steps": ${failure}`,
  ]) {
    assert.ok(
      lines.some((line) => line.endsWith(text)),
      `${text}\n\nnot in\n${lines.join('\n')}`,
    );
  }
});

test('a step that is a problem by itself is told, whatever else is right', async () => {
  const meant = 'expected a template for a list, such as {{ steps.NAME.result }}, got';
  for (const [each, message] of [
    ['{ list: [ 1, 2 ] }', `list: ${meant} a list`],
    ['{ list: steps.pull.result }', `list: ${meant} "steps.pull.result"`],
    ['{ list: 5 }', `list: ${meant} 5`],
    ['"{{ steps.pull.result }}"', 'expected an object, got "{{ steps.pull.result }}"'],
    ['{ files: "*" }', 'expected the key "list", got none'],
  ]) {
    const lines = await problemsOf(
      withTasks(`  - { name: f, steps: [ { task: pull }, { task: nap, depends_on: [ pull ], each: ${each} } ] }
`),
    );
    assert.ok(
      lines.some((line) => line.includes(message!)),
      `${message}\n\nnot in\n${lines.join('\n')}`,
    );
  }
});

test('a template in the with of a task itself, which nothing fills in, is a warning', async () => {
  const warnings = await warningsOf(`tasks:
  - { name: item, handler: noop, with: { a: "{{ item }}", deep: [ { b: "to {{item.id}}" } ] } }
  - { name: alarm, handler: noop, with: { text: "failed: {{ flow.error }}", day: '{{ payload["d"] }}' } }
  - { name: other, handler: command, with: { argv: [ docker, ps, --format, "{{.Names}} {{ json .item }} {{ items }}" ] } }
flows:
  - name: f
    on_failure: { task: alarm, with: { text: "{{ flow.error }}" } }
    steps:
      - { task: item, each: { list: "{{ payload.all }}" }, with: { a: "{{ item }}" } }
`);
  const remedy =
    'which nothing fills in here; move it to the with of a step, or to that of on_failure, in a flow';
  assert.deepEqual(warnings, [
    `c.yaml:2:45: tasks[0] (item).with.a: expected a value as it is, got "{{ item }}", ${remedy}`,
    `c.yaml:2:72: tasks[0] (item).with.deep[0].b: expected a value as it is, got "to {{item.id}}", ${remedy}`,
    `c.yaml:3:49: tasks[1] (alarm).with.text: expected a value as it is, got "failed: {{ flow.error }}", ${remedy}`,
    `c.yaml:3:82: tasks[1] (alarm).with.day: expected a value as it is, got "{{ payload[\\"d\\"] }}", ${remedy}`,
  ]);
});

test('problems of the steps and their order hide none of templates, guards and inputs, and are the cause of none', async () => {
  const flowOf = (broken: string): string =>
    withTasks(`  - name: f
    on_failure: { task: tell, with: { of: "{{ flow.eror }}" } }
    steps:
      - { task: pull, with: { argv: [ "{{ payload.x | upper }}" ] }, expect: { min_rows: 3, max_rows: 2 } }
      - { task: nap, depends_on: [ pull ], each: { list: "{{ steps.pull.result }}" }, with: { ms: "{{ item.id }" } }
      - { task: tell, depends_on: [ nap ], with: { a: "{{ steps.nap.result }}", b: "{{ steps.pul.result }}", c: "{{ steps.pack.run }}" } }
      - { task: pack, depends_on: [ pull ], with: { algorithm: md5 } }
      ${broken}
`);
  const always = [
    'f).on_failure.with.of: ',
    'f).steps[0].with.argv[0]: ',
    'f).steps[0].expect.max_rows: ',
    'f).steps[1].with.ms: ',
    'f).steps[2].with.c: ',
    'f).steps[3].with.algorithm: ',
  ];
  const misspelt = 'f).steps[2].with.b: ';
  for (const [broken, ...own] of [
    ['', misspelt],
    ['- { task: other, depends_on: [ pack ] }', misspelt, 'f).steps[4].task: '],
    ['- { task: many, depends_on: [ many ] }', misspelt, 'f).steps[4].task: ', 'f).steps[4].depends_on[0]: '],
    ['- { tusk: other }', 'f).steps[4].tusk: ', 'f).steps[4]: '],
    ['- 5', 'f).steps[4]: '],
  ] as const) {
    const found = await problemsOf(flowOf(broken));
    const expected = [...always, ...own];
    for (const place of expected) assert.equal(found.filter((line) => line.includes(place)).length, 1, place);
    assert.equal(found.length, expected.length, found.join('\n'));
  }
  const nameless = await problemsOf(flowOf('').replace('name: f', 'timeout_seconds: 5'));
  for (const place of always)
    assert.equal(nameless.filter((line) => line.includes(place.replace('f)', 'flows[0]'))).length, 1, place);
  // What is before a step that waits for an unknown one, or stands on a cycle, cannot be told: nothing is said of it.
  for (const depends of ['[ nop ]', '[ nap ]']) {
    const found = await problemsOf(
      withTasks(`  - name: f
    steps:
      - { task: pull, depends_on: ${depends} }
      - { task: nap, depends_on: [ pull ], with: { ms: "{{ steps.tell.result }}" } }
      - { task: tell, depends_on: [ nap ], with: { a: "{{ steps.pull.result }}" } }
`),
    );
    const place = depends === '[ nop ]' ? [] : ['f).steps[1].with.ms: '];
    for (const one of ['f).steps[0].depends_on[0]: ', ...place])
      assert.ok(
        found.some((line) => line.includes(one)),
        one,
      );
    assert.equal(found.length, 1 + place.length, found.join('\n'));
  }
});
