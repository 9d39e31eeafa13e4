/** A task's module: runs on a thread. */
import { createHash } from 'node:crypto';
import { isMainThread } from 'node:worker_threads';

export interface DigestInput {
  readonly text: string;
}

export default function digest({ text }: DigestInput): { readonly sha256: string; readonly onMain: boolean } {
  return { sha256: createHash('sha256').update(text).digest('hex'), onMain: isMainThread };
}
