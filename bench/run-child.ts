/** A program in a process of its own that prints its answer as JSON. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

export interface ChildOptions {
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Null where it has ended with an error. */
export async function runChild<Answer>(
  file: string,
  argv: readonly string[],
  { flags = [], env = {} }: ChildOptions = {},
): Promise<Answer | null> {
  const child = spawn(process.execPath, [...flags, file, ...argv], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  });
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  return code === 0 ? (JSON.parse(output) as Answer) : null;
}
