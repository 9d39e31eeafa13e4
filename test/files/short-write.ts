/** Adds lines to a manifest until a write fails, and says what it failed with. */
import { ChunkBuffers } from '../../src/workers/files/chunk-buffers.ts';
import { Manifest } from '../../src/workers/files/manifest.ts';

const [manifestPath = '', path = ''] = process.argv.slice(2);
process.on('SIGXFSZ', () => {});
try {
  new Manifest(new ChunkBuffers()).write({ manifestPath, path, hex: 'a'.repeat(64), run: 'r' });
  console.log('written');
} catch (thrown) {
  console.log((thrown as Error).message);
}
