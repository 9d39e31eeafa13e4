import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ColibriError } from '../../src/actors/kernel/errors.ts';
import { compileGlob } from '../../src/workers/files/glob.ts';

/** As a walk does: folder by folder, then the file. */
function matches(pattern: string, path: string): boolean {
  const names = path.split('/');
  let state = compileGlob(pattern);
  for (const folder of names.slice(0, -1)) {
    const inside = state.enter(folder);
    if (inside === undefined) return false;
    state = inside;
  }
  return state.matchesFile(names.at(-1)!);
}

const CASES: readonly [pattern: string, yes: readonly string[], no: readonly string[]][] = [
  ['*', ['a', 'a.b', 'ä', '-x', 'a b', 'a\nb', '\\'], ['.a', 'a/b']],
  ['**/*', ['a', 'a/b', 'a/b/c'], ['.a', '.a/b', 'a/.b', 'a/.b/c']],
  ['**', ['a', 'a/b/c'], ['.a', 'a/.b']],
  ['a/**', ['a/b', 'a/b/c'], ['a', 'b/a']],
  ['**/a', ['a', 'x/a', 'x/y/a'], ['x/b', 'a/b']],
  ['a/**/b', ['a/b', 'a/x/b', 'a/x/y/b'], ['a/x', 'b', 'a/.x/b']],
  ['**/x/**/y', ['x/y', 'a/x/y', 'a/x/b/y', 'x/x/y'], ['y', 'a/y']],
  ['*.log', ['a.log', 'b.c.log'], ['.log', 'a.logs', 'a/b.log']],
  ['.*', ['.a', '.log'], ['a']],
  ['.git/*', ['.git/config'], ['.git/.hidden', 'git/config']],
  ['?', ['a', 'ä', '😀'], ['ab', '.', '']],
  ['a?c', ['abc', 'a😀c'], ['ac', 'abbc']],
  ['[abc]', ['a', 'b'], ['d', 'ab']],
  ['[a-c]x', ['ax', 'cx'], ['dx', 'x']],
  ['[!a-c]x', ['dx', '-x'], ['ax', '.x']],
  ['[^a]', ['b'], ['a']],
  ['[]a]', [']', 'a'], ['b']],
  ['[!]a]', ['b'], [']', 'a']],
  ['[a-]', ['a', '-'], ['b']],
  ['[a', ['[a'], ['a']],
  ['[\\]]', [']'], ['\\']],
  ['\\*', ['*'], ['a', '\\']],
  ['{a,b}.txt', ['a.txt', 'b.txt'], ['c.txt', '{a,b}.txt']],
  ['{a,b/c}/*.t', ['a/x.t', 'b/c/x.t'], ['b/x.t']],
  ['x{,y}', ['x', 'xy'], ['xx']],
  ['{a{1,2},b}', ['a1', 'a2', 'b'], ['a', 'a12']],
  ['{a}', ['{a}'], ['a']],
  ['{a,b', ['{a,b'], ['a']],
  ['\\{a,b}', ['{a,b}'], ['a']],
  ['./a//b', ['a/b'], ['a']],
  ['a**b', ['ab', 'axb'], ['a/b']],
];

test('patterns match what a shell matches', () => {
  for (const [pattern, yes, no] of CASES) {
    for (const path of yes) assert.equal(matches(pattern, path), true, `${pattern} should match ${path}`);
    for (const path of no) assert.equal(matches(pattern, path), false, `${pattern} should not match ${path}`);
  }
});

test('folders in which nothing can match are not entered', () => {
  assert.equal(compileGlob('a/*.txt').enter('b'), undefined);
  assert.equal(compileGlob('*.txt').enter('a'), undefined);
  assert.equal(compileGlob('a/b/*').enter('a')?.enter('c'), undefined);
  assert.ok(compileGlob('{a,b}/*').enter('b'));
  assert.equal(compileGlob('**/*').enter('.git'), undefined);
});

test('a pattern that leaves its folder, names none, or explodes is refused', () => {
  for (const bad of ['../a', 'a/../b', '{..,a}/b', '', '/', 'a/', `${'{a,b}'.repeat(11)}`]) {
    assert.throws(
      () => compileGlob(bad),
      (thrown) => thrown instanceof ColibriError && thrown.code === 'config-invalid',
      `expected ${JSON.stringify(bad)} to be refused`,
    );
  }
});

test('a name cannot make matching slow', () => {
  const state = compileGlob(`${'*a'.repeat(50)}b`);
  const before = process.threadCpuUsage();
  assert.equal(state.matchesFile('a'.repeat(255)), false);
  const { user, system } = process.threadCpuUsage(before);
  assert.ok(user + system < 500_000, `${user + system} µs`);
});

/** The plainest right matcher there is: tries everything. Paths and patterns as lists of names. */
function reference(pattern: readonly string[], path: readonly string[]): boolean {
  const [head, ...rest] = pattern;
  if (head === undefined) return path.length === 0;
  if (path.length === 0) return false;
  if (head === '**') {
    if (rest.length === 0) return path.every((name) => !name.startsWith('.'));
    return reference(rest, path) || (!path[0]!.startsWith('.') && reference(pattern, path.slice(1)));
  }
  return referenceName(head, path[0]!, true) && reference(rest, path.slice(1));
}

function referenceName(pattern: string, name: string, atStart: boolean): boolean {
  if (pattern === '') return name === '';
  if (atStart && name.startsWith('.') && !pattern.startsWith('.')) return false;
  if (pattern[0] === '*') {
    for (let skip = 0; skip <= name.length; skip += 1) {
      if (referenceName(pattern.slice(1), name.slice(skip), false)) return true;
    }
    return false;
  }
  if (name === '') return false;
  return (
    (pattern[0] === '?' || pattern[0] === name[0]) && referenceName(pattern.slice(1), name.slice(1), false)
  );
}

test('matching agrees with a matcher that tries everything', () => {
  const segment = fc.oneof(
    { weight: 1, arbitrary: fc.constant('**') },
    {
      weight: 3,
      arbitrary: fc
        .string({ unit: fc.constantFrom('a', 'b', '.', '*', '?'), minLength: 1, maxLength: 5 })
        // `**` inside a name means `*`, and `.` and `..` are no names.
        .map((text) => text.replace(/\*+/g, '*'))
        .filter((text) => text !== '.' && text !== '..'),
    },
  );
  const name = fc
    .string({ unit: fc.constantFrom('a', 'b', '.'), minLength: 1, maxLength: 5 })
    .filter((text) => text !== '.' && text !== '..');
  fc.assert(
    fc.property(
      fc.array(segment, { minLength: 1, maxLength: 4 }),
      fc.array(name, { minLength: 1, maxLength: 5 }),
      (pattern, path) => {
        assert.equal(matches(pattern.join('/'), path.join('/')), reference(pattern, path));
      },
    ),
    { numRuns: 3000 },
  );
});
