/**
 * Names of part files: what is written before it is whole and takes its final name. A scan never finds
 * them, so the form is known in this one place.
 */
import { fingerprint64 } from '../../actors/results/fingerprint.ts';

/** Longest name of a file on the usual file systems, in bytes. */
const NAME_LIMIT_BYTES = 255;
const PART_NAME = /\.part-[0-9a-f]{16}$/;

/**
 * `<name>.part-<16 hex digits of the run>`; where that is too long for a file system, without `<name>`. The
 * same run and name give the same part name, so what a killed attempt left is found and replaced.
 */
export function partName(name: string, run: string): string {
  const suffix = `.part-${fingerprint64(`${run}\0${name}`)}`;
  return Buffer.byteLength(name) + suffix.length <= NAME_LIMIT_BYTES ? name + suffix : suffix;
}

export function isPartName(name: string): boolean {
  return PART_NAME.test(name);
}
