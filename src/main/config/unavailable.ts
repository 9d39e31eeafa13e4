/** Parts of the contract that this version does not have yet: refused at their place, with a way around. */
import type { SchemaPath } from '../../actors/kernel/check-schema.ts';
import type { ResolveScope } from './resolve-scope.ts';

export interface Unavailable {
  readonly expected: string;
  readonly got: string;
  /** The nearest thing that works. */
  readonly remedy: string;
}

export function notAvailable(scope: ResolveScope, path: SchemaPath, what: Unavailable): void {
  const { expected, got, remedy } = what;
  scope.problems.add(
    path,
    `expected ${expected}, got ${got}, which is not available in this version; ${remedy}`,
  );
}
