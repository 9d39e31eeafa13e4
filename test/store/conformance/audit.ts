/** What users did. */
import assert from 'node:assert/strict';
import type { AuditEntry } from '../../../src/actors/records.ts';
import type { Cases } from '../conformance.ts';

/** The fewest that are kept, and the most that are ever there. */
const KEPT = { least: 200, most: 10_100 } as const;

function entry(index: number): AuditEntry {
  return {
    atMs: 1000 + index,
    actor: 'ann (1000)',
    action: 'cancel',
    target: `a@${index}`,
    fields: { index },
  };
}

export const auditCases: Cases = {
  'audit entries come back whole, the newest first, at most the limit': (open) => {
    const { store } = open();
    assert.deepEqual(store.audits(10), []);
    const other: AuditEntry = {
      atMs: 5,
      actor: 'daemon',
      action: 'stop',
      target: null,
      fields: { deep: [{ a: null }] },
    };
    for (const one of [entry(1), entry(2), other]) store.audit(one);
    store.commit();
    assert.deepEqual(
      store.audits(10),
      [other, entry(2), entry(1)],
      'in the order they came, whatever their times',
    );
    assert.deepEqual(store.audits(1), [other]);
    assert.equal(store.kept, 0);
  },

  'audit entries are bounded, the oldest go first': (open) => {
    const { store } = open();
    const count = KEPT.most + 150;
    for (let index = 1; index <= count; index++) store.audit(entry(index));
    store.commit();
    const kept = store.audits(2 * count);
    assert.ok(kept.length >= KEPT.least && kept.length <= KEPT.most, `${kept.length}`);
    assert.deepEqual(kept[0], entry(count));
    assert.deepEqual(kept.at(-1), entry(count - kept.length + 1));
  },
};
