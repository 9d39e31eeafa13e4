import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  FAILURE_FIELDS,
  fillTemplate,
  fillText,
  isConstant,
  listOf,
  MAX_FILLED_LENGTH,
  MAX_TEMPLATE_DEPTH,
  parseSource,
  parseTemplate,
  parseTemplateText,
  type TemplateScope,
  type TemplateValues,
} from '../../src/actors/flow/index.ts';
import { ColibriError } from '../../src/actors/kernel/index.ts';

const scope: TemplateScope = {
  steps: new Set(['pull_order', 'check-order', 'mail']),
  upstream: new Set(['pull_order', 'check-order']),
  hasItem: true,
};

const results: Readonly<Record<string, unknown>> = {
  pull_order: { date: '2026-11-29', total: 12.5, orders: [{ id: 'a' }, { id: 'b' }], 'any key': true },
  'check-order': null,
};

const values: TemplateValues = {
  payload: { customer: 'Ann', deep: { list: [1, [2, 3]] } },
  item: { id: 'a', size: 3 },
  flow: { name: 'daily', run: 'daily@2026-11-29T02:00:00Z', due: '2026-11-29T02:00:00Z' },
  resultOf: (step) => (Object.hasOwn(results, step) ? results[step] : undefined),
  runOf: (step) => (step === 'pull_order' ? 'daily@1/pull_order' : null),
};

function fill(value: unknown, from: TemplateValues = values): unknown {
  const { template, problems } = parseTemplate(value, scope);
  assert.deepEqual(problems, []);
  return JSON.parse(fillTemplate(template, from));
}

function problemOf(value: unknown, within: TemplateScope = scope): string {
  const { problems } = parseTemplate(value, within);
  assert.equal(problems.length, 1);
  const [problem] = problems;
  return `${problem!.path.join('.')}: ${problem!.message}`;
}

test('a value that is one template keeps its type, in a text it is written out', () => {
  assert.deepEqual(fill('{{ steps.pull_order.result.orders }}'), [{ id: 'a' }, { id: 'b' }]);
  assert.equal(fill('{{steps.pull_order.result.total}}'), 12.5);
  assert.equal(fill('{{ steps.pull_order.result["any key"] }}'), true);
  assert.equal(fill('{{ steps.check-order.result }}'), null);
  assert.equal(fill('{{ steps.pull_order.run }}'), 'daily@1/pull_order');
  assert.equal(fill('{{ payload.deep.list[1][0] }}'), 2);
  assert.equal(fill('{{ item.size }}'), 3);
  assert.equal(
    fill('of {{ steps.pull_order.result.date }} for {{ payload.customer }}'),
    'of 2026-11-29 for Ann',
  );
  assert.equal(fill(' {{ steps.pull_order.result.total }}'), ' 12.5');
  assert.equal(fill('{{ item }}{{ steps.check-order.result }}'), '{"id":"a","size":3}null');
  assert.equal(
    fill('{{ flow.name }} {{ flow.run }} {{ flow.due }}'),
    'daily daily@2026-11-29T02:00:00Z 2026-11-29T02:00:00Z',
  );
});

test('templates are found at every depth, and what has none stays what it was', () => {
  const written = { a: ['{{ item.id }}', { b: '{{ payload }}', c: [1.5, null, true, 'x'] }], 'k"ey': '' };
  assert.deepEqual(fill(written), {
    a: ['a', { b: values.payload, c: [1.5, null, true, 'x'] }],
    'k"ey': '',
  });
  const { open } = parseTemplate(written, scope);
  assert.deepEqual(open, [
    ['a', 0],
    ['a', 1, 'b'],
  ]);
  assert.ok(isConstant(parseTemplate({ a: [1, 'x', {}], b: '{{ "{{" }}' }, scope).template));
  assert.ok(!isConstant(parseTemplate('{{ item }}', scope).template));
});

test('a result that is forgotten is null to nobody', () => {
  const without = { ...values, resultOf: () => undefined };
  for (const written of ['{{ steps.pull_order.result }}', 'of {{ steps.pull_order.result.date }}']) {
    for (const mayLack of [false, true]) {
      assert.throws(() => fill(written, { ...without, mayLack }), {
        code: 'input-invalid',
        message:
          'expected the result of step pull_order, got one that is forgotten; run the flow again from there, or keep more: retention.results, retention.result_ttl_hours',
      });
    }
  }
  assert.equal(
    fill('{{ steps.check-order.result }}', { ...without, mayLack: true }),
    null,
    'it did not succeed',
  );
});

test('braces that mean themselves are written in quotes', () => {
  assert.equal(fill('{{ "{{.Names}}" }}'), '{{.Names}}');
  assert.equal(fill('a }} b'), 'a }} b');
  assert.equal(fill('{{ "\\"}}" }}-{{ item.id }}'), '"}}-a');
});

test('what is filled in is not looked at for templates again', () => {
  const payload = { customer: '{{ steps.pull_order.result.total }}' };
  assert.equal(fill('for {{ payload.customer }}', { ...values, payload }), `for ${payload.customer}`);
});

test('what is wrong is said at its place when the config is loaded', () => {
  assert.equal(
    problemOf({ a: ['x', '{{ steps.pul_order.result }}'] }),
    'a.1: expected a step of this flow, got "pul_order"; did you mean "pull_order"?',
  );
  assert.equal(
    problemOf('{{ steps.mail.result }}'),
    ': expected a step that is over when this one starts, got "mail"; add mail to depends_on',
  );
  assert.match(
    problemOf('{{ steps.pull_order.date }}'),
    /expected result or run after steps\.pull_order, got "date"/,
  );
  assert.match(problemOf('{{ steps.pull_order.run.x }}'), /after steps\.pull_order, got "run\.x"/);
  assert.match(problemOf('{{ steps.mail.run }}'), /expected a step that is over/);
  assert.match(problemOf('{{ steps }}'), /expected steps\.NAME\.result, got no name/);
  assert.match(
    problemOf('{{ paylod.x }}'),
    /expected payload, steps, item or flow, got "paylod"; did you mean "payload"\?/,
  );
  assert.match(
    problemOf('{{ item }}', { ...scope, hasItem: false }),
    /expected a step with each, got item in one without/,
  );
  assert.match(problemOf('{{ flow.id }}'), /expected flow\.name, flow\.run or flow\.due, got "flow\.id"/);
  assert.match(
    problemOf('{{ payload.x'),
    /expected }} after "{{ payload\.x", got none; braces that mean themselves/,
  );
  assert.match(
    problemOf('{{.Names}}'),
    /expected payload, steps, item or flow, got "\.Names"; braces that mean/,
  );
  assert.match(
    problemOf('{{ payload.a + 1 }}'),
    /expected a path such as orders\[0\]\.amount or \["any key"\], got " \+ 1"/,
  );
  assert.match(problemOf('{{ payload.f() }}'), /expected a path/);
  assert.match(problemOf('{{ "a }}'), /expected }} after/);
  assert.match(problemOf({ '{{ item }}': 1 }), /expected a key without \{\{ }}/);
  assert.match(problemOf(`{{ payload${'.a'.repeat(40)} }}`), /expected a path of at most 32 steps/);
});

test('a value that is not there is an error that names its path, and how far the way goes', () => {
  const errorOf = (text: string, from: TemplateValues = values): string => {
    const { template } = parseTemplate(text, scope);
    try {
      fillTemplate(template, from);
    } catch (error) {
      assert.ok(error instanceof ColibriError && error.code === 'input-invalid');
      return error.message;
    }
    return assert.fail('expected an error');
  };
  assert.equal(
    errorOf('{{ steps.pull_order.result.orders[7].id }}'),
    'expected a value at steps.pull_order.result.orders[7].id, got a list of 2 at steps.pull_order.result.orders',
  );
  assert.equal(
    errorOf('{{ payload.custmer }}'),
    'expected a value at payload.custmer, got an object without custmer at payload',
  );
  assert.equal(
    errorOf('{{ steps.check-order.result.n }}'),
    'expected a value at steps.check-order.result.n, got null at steps.check-order.result',
  );
  assert.equal(
    errorOf('{{ payload.n }}', { ...values, payload: {} }),
    'expected a value at payload.n, got an empty object at payload',
  );
  assert.equal(
    errorOf('{{ payload["a b"] }}', { ...values, payload: { n: 1 } }),
    'expected a value at payload["a b"], got an object without ["a b"] at payload',
  );
  for (const [payload, got] of [
    [{ rows: { n: 1 } }, 'an object'],
    [{ rows: [] }, 'a list of 0'],
    [{ rows: 'abc' }, '"abc"'],
  ] as const) {
    const error = errorOf('{{ payload.rows[0] }}', { ...values, payload });
    assert.equal(error, `expected a value at payload.rows[0], got ${got} at payload.rows`);
  }
  assert.equal(
    errorOf('{{ steps.check-order.result }}', { ...values, resultOf: () => undefined }),
    'expected a value at steps.check-order.result, got no steps.check-order.result',
  );
});

test('nothing of the language can be reached, whatever the path', () => {
  const tricky = fc.constantFrom(
    '__proto__',
    'constructor',
    'prototype',
    'toString',
    'length',
    'valueOf',
    'a',
    'then',
  );
  const data: unknown = JSON.parse('{"a":{"a":[{"a":1}]},"__proto__":{"a":2}}');
  fc.assert(
    fc.property(fc.array(tricky, { minLength: 1, maxLength: 4 }), (path) => {
      const { template, problems } = parseTemplate(`{{ payload.${path.join('.')} }}`, scope);
      assert.deepEqual(problems, []);
      const own = path.reduce<unknown>(
        (value, key) =>
          typeof value === 'object' && value !== null && !Array.isArray(value)
            ? Object.getOwnPropertyDescriptor(value, key)?.value
            : undefined,
        data,
      );
      const from = { ...values, payload: data };
      if (own === undefined) assert.throws(() => fillTemplate(template, from), /expected a value at payload/);
      else assert.equal(fillTemplate(template, from), JSON.stringify(own));
    }),
  );
  assert.equal(
    fillTemplate(parseTemplate(JSON.parse('{"__proto__":"{{ item.id }}"}'), scope).template, values),
    '{"__proto__":"a"}',
  );
});

test('depth and size are bounded', () => {
  let nested: unknown = '{{ item }}';
  for (let depth = 0; depth < MAX_TEMPLATE_DEPTH; depth++) nested = [nested];
  assert.deepEqual(parseTemplate(nested, scope).problems, []);
  assert.match(problemOf([nested]), /expected at most 32 levels of nesting, got more/);
  const payload = 'x'.repeat(MAX_FILLED_LENGTH / 4);
  const many = Array.from({ length: 1000 }, () => '{{ payload }}');
  const tooLong = /expected at most 262144 characters of data in an input, got more; pass a path/;
  assert.throws(() => fillTemplate(parseTemplate(many, scope).template, { ...values, payload }), tooLong);
  assert.throws(
    () => fillTemplate(parseTemplate(many.join(''), scope).template, { ...values, payload }),
    tooLong,
  );
  // What is there for every run, and the names of runs, leave the room to the data.
  const beside = { a: 'x'.repeat(1000), run: '{{ flow.run }}', by: '{{ steps.pull_order.run }}' };
  const longest = { ...values, payload: 'x'.repeat(MAX_FILLED_LENGTH - 2) };
  assert.equal(Object.keys(fill({ ...beside, all: '{{ payload }}' }, longest) as object).length, 4);
  const more = { ...beside, all: '{{ payload }}', one: '{{ item.size }}' };
  assert.throws(() => fill(more, longest), tooLong);
});

test('any data comes through as it was, whole or written out', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.string(), (payload, text) => {
      const plain = text.replaceAll('{', '(');
      const from = { ...values, payload };
      const json = JSON.stringify(payload);
      const written = typeof payload === 'string' ? payload : json;
      assert.equal(JSON.stringify(fill({ a: '{{ payload }}' }, from)), `{"a":${json}}`);
      assert.equal(fill(`${plain}x{{ payload }}${plain}`, from), `${plain}x${written}${plain}`);
    }),
    { numRuns: 60 },
  );
});

test('a hostile text is a problem or a template, and never throws', () => {
  const piece = fc.constantFrom(
    '{{',
    '}}',
    '"',
    '\\',
    ' ',
    'payload',
    '.',
    'a',
    '[0]',
    '["',
    '"]',
    'steps.mail',
    '{',
    '}',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
      const parsed = parseTemplateText(pieces.join(''), scope);
      if ('problem' in parsed) assert.ok(parsed.problem.length > 10);
      else for (const part of parsed.parts) assert.ok('text' in part || 'source' in part);
    }),
    { numRuns: 300 },
  );
});

test('a text for a key, and a list for each, are filled alike', () => {
  const key = parseTemplateText('{{ payload.customer }}-{{ item.id }}', scope);
  assert.ok('parts' in key);
  assert.equal(fillText(key.parts, values), 'Ann-a');
  assert.deepEqual(parseSource('{{ item }}', scope), { source: { kind: 'item', path: [] } });
  for (const text of ['orders', 'x{{ item }}', '{{ "a" }}', '']) {
    const parsed = parseSource(text, scope);
    assert.ok('problem' in parsed && parsed.problem.startsWith('expected one template such as'));
  }
  assert.ok('problem' in parseSource('{{ steps.mail.result }}', scope));
  const source = { kind: 'step', step: 'pull_order', path: ['orders'] } as const;
  assert.deepEqual(listOf(source, values), [{ id: 'a' }, { id: 'b' }]);
  assert.throws(
    () => listOf({ ...source, path: ['date'] }, values),
    /expected a list at steps\.pull_order\.result\.date, got "2026-11-29"/,
  );
});

test('a lenient template is filled whatever there is: what is not there is null, in a text nothing', () => {
  const texts = [
    '{{ payload }}',
    '{{ payload.a }}',
    '{{ payload.a.b[1] }}',
    '{{ payload["c"][0] }}',
    '{{ flow.run }}',
  ];
  const { template, problems } = parseTemplate(
    { whole: texts, inside: texts.map((text) => `<${text}>`) },
    scope,
  );
  assert.deepEqual(problems, []);
  const isLenient = true;
  const anyPayload = fc.oneof(
    fc.jsonValue(),
    fc.record({ a: fc.jsonValue(), c: fc.jsonValue() }),
    fc.constant(undefined),
  );
  fc.assert(
    fc.property(anyPayload, (payload) => {
      const text = fillTemplate(template, { ...values, payload, isLenient });
      const { whole, inside } = JSON.parse(text) as { whole: unknown[]; inside: string[] };
      assert.deepEqual([whole.length, inside.length], [texts.length, texts.length]);
      for (const [at, value] of whole.entries()) {
        const said = value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value);
        assert.equal(inside[at], `<${said}>`);
      }
    }),
  );
  const lacks = fillTemplate(template, { ...values, payload: {}, isLenient });
  assert.deepEqual(JSON.parse(lacks).whole.slice(1, 4), [null, null, null]);
  assert.throws(() => fillTemplate(template, { ...values, payload: {} }), /expected a value at payload\.a/);
});

test('the failure of a flow is known to what runs after it, and to nothing else', () => {
  for (const field of FAILURE_FIELDS) {
    assert.match(problemOf(`{{ flow.${field} }}`), /got "flow\.\w+", which only on_failure has$/);
    const { template, problems } = parseTemplate([`{{ flow.${field} }}`], { ...scope, hasFailure: true });
    assert.deepEqual(problems, []);
    const flow = { ...values.flow, failed_step: null, error: 'x' };
    assert.equal(fillTemplate(template, { ...values, flow }), field === 'error' ? '["x"]' : '[null]');
  }
});
