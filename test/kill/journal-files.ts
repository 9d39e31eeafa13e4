/** The journal as it lies on disk between two lives: looked at in a copy, so that nothing of it is changed. */
import { copyFileSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Violation } from './violations.ts';

const JOURNAL = 'journal.db';
/** Without the shared memory of the log: it is made anew from the other two. */
const KEPT = [JOURNAL, `${JOURNAL}-wal`];
const KNOWN = new Set([...KEPT, `${JOURNAL}-shm`]);

/** Empty where there is no journal: the store is in memory. */
export function journalViolations(stateDir: string): Violation[] {
  const names = readdirSync(stateDir).filter((name) => name.startsWith('journal'));
  const found: Violation[] = names
    .filter((name) => !KNOWN.has(name))
    .map((name) => ({ rule: 'journal', text: `expected a whole journal, got ${name} beside it` }));
  if (!names.includes(JOURNAL)) return found;
  const answer = integrity(stateDir);
  if (answer !== 'ok')
    found.push({ rule: 'journal', text: `expected an integrity check of ok, got ${answer}` });
  return found;
}

function integrity(stateDir: string): string {
  const copy = mkdtempSync(join(tmpdir(), 'colibri-journal-'));
  try {
    for (const name of KEPT)
      if (existsSync(join(stateDir, name))) copyFileSync(join(stateDir, name), join(copy, name));
    const database = new DatabaseSync(join(copy, JOURNAL));
    try {
      const rows = database.prepare('PRAGMA integrity_check').all() as { integrity_check: string }[];
      return rows.map(({ integrity_check }) => integrity_check).join('; ');
    } finally {
      database.close();
    }
  } catch (error) {
    return String(error);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}
