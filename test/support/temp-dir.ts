import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What a test undoes at its end. */
export interface HasAfter {
  after(undo: () => void | Promise<void>): void;
  /** Known at the end. */
  readonly passed?: boolean;
  diagnostic?(message: string): void;
}

/** Something in it that is still being ended may write meanwhile: then the folder is not empty. */
const TRIES = 5;

/** A fresh folder that goes with the test. */
export function tempDir(t: HasAfter): string {
  const dir = mkdtempSync(join(tmpdir(), 'colibri-'));
  t.after(() => rmSync(dir, { recursive: true, force: true, maxRetries: TRIES }));
  return dir;
}
