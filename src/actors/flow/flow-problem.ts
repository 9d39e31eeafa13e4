/** What is wrong with a part of a flow as it is written. */
import type { SchemaPath } from '../kernel/check-schema.ts';

export interface FlowProblem {
  /** Below the part that was checked: the config puts its own path before it, and says file, line and column. */
  readonly path: SchemaPath;
  /** *expected …, got …; remedy*, without the path. */
  readonly message: string;
}
