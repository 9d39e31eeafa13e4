/**
 * The metrics page. Without a view, because main does not answer, what only main knows is left out and the rest still
 * shown.
 */
import Registry from 'prom-client/lib/registry.js';
import type { Scrape } from './metric-samples.ts';
import { METRICS } from './metric-table.ts';

export class Metrics {
  readonly #registry = new Registry();
  #scrape: Scrape | null = null;

  constructor() {
    for (const [name, spec] of Object.entries(METRICS)) {
      const { help, type } = spec;
      this.#registry.registerMetric({
        name,
        get: () => ({ name, help, type, values: this.#scrape === null ? [] : spec.read(this.#scrape) }),
      });
    }
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** One piece of text for each metric, so that the page never stands in memory as a whole. */
  async *render(scrape: Scrape): AsyncGenerator<string> {
    for (const metric of this.#registry.getMetricsAsArray()) {
      this.#scrape = scrape;
      const text = this.#registry.getMetricsAsString(metric);
      // `get` has run by now: another scrape may take its turn while this one waits for its reader.
      this.#scrape = null;
      yield `${await text}\n`;
    }
  }
}
