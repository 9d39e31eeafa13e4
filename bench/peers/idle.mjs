// `idle.mjs NAME SCHEDULES`: mounts a peer with cron schedules (a JSON list) that are not due, or with two threads that
// have worked once; prints `ready` and idles until it is killed.
import { fileURLToPath } from 'node:url';

const [name, schedules] = process.argv.slice(2);
const expressions = JSON.parse(schedules);

switch (name) {
  case 'nothing':
    break;
  case 'piscina': {
    const { Piscina } = await import('piscina');
    const filename = fileURLToPath(new URL('../noop-task.js', import.meta.url));
    const pool = new Piscina({ filename, minThreads: 2, maxThreads: 2 });
    await Promise.all(Array.from({ length: 100 }, () => pool.run(null)));
    break;
  }
  case 'croner': {
    const { Cron } = await import('croner');
    for (const expression of expressions) new Cron(expression, () => {});
    break;
  }
  case 'node-cron': {
    const { schedule } = await import('node-cron');
    for (const expression of expressions) schedule(expression, () => {});
    break;
  }
  default:
    throw new Error(`expected the name of a peer, got ${name}`);
}
setInterval(() => {}, 2 ** 31 - 1);
console.log('ready');
