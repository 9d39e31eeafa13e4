/** A thread that hashes the files it is given into one manifest, round after round, when the gate opens. */
import { parentPort, workerData } from 'node:worker_threads';
import { fileHandlers } from './file-job.ts';

export interface ManifestThreadData {
  readonly gate: Int32Array;
  readonly manifest: string;
  readonly paths: readonly string[];
}

const { gate, manifest, paths } = workerData as ManifestThreadData;
const { hash } = fileHandlers();
parentPort?.postMessage('up');
Atomics.wait(gate, 0, 0);
parentPort?.postMessage(paths.map((path) => hash({ path, manifest }).manifest));
