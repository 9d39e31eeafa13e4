/** What users' modules print is a line of the log, whatever becomes of the standard output. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { DaemonProcess } from '../support/daemon-process.ts';
import { withoutTypes } from '../support/program.ts';
import { tempDir } from '../support/temp-dir.ts';

const tasks = (['io', 'cpu'] as const).map((kind) => ({
  name: kind,
  kind,
  handler: 'printer',
  overlap: 'allow',
}));
const config = { tasks, handlers: [withoutTypes(join(import.meta.dirname, 'handlers', '*.ts'))] };

for (const kind of ['io', 'cpu'] as const) {
  test(`${kind}: printed text comes as log lines, and a flood of it is counted`, async (t) => {
    const daemon = await DaemonProcess.start(t, tempDir(t), config);
    assert.equal((await daemon.command('trigger', kind, '--wait')).code, 0);
    const line = await daemon.line((one) => one.msg === 'printed line 0');
    assert.deepEqual([line.level, line.printed], ['info', true]);
    await daemon.line((one) => one.msg === 'printed to the standard error' && one.level === 'warn');
    assert.equal((await daemon.command('trigger', kind, '--wait', '--payload', '{"lines":5000}')).code, 0);
    await daemon.line((one) => /left out/.test(String(one.msg)));
    assert.ok(daemon.lines.filter((one) => one.printed === true).length < 1000);
    assert.ok(
      daemon.lines.every((one) => one.broken !== true),
      'every line is JSON',
    );
  });
}

test('a standard output whose reader is gone does not end the daemon', async (t) => {
  const daemon = await DaemonProcess.start(t, tempDir(t), config);
  daemon.child.stdout!.destroy();
  for (let count = 0; count < 5; count++)
    assert.equal((await daemon.command('trigger', 'io', '--wait')).code, 0);
  assert.equal((await daemon.command('status')).code, 0);
});
