/** What a campaign measured: the times of each kind, and how they are told. */

export class Figures {
  readonly #times = new Map<string, number[]>();
  readonly #counts = new Map<string, number>();

  /** ms. */
  time(name: string, ms: number): void {
    const times = this.#times.get(name);
    if (times === undefined) this.#times.set(name, [ms]);
    else times.push(ms);
  }

  count(name: string, by = 1): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + by);
  }

  /** 0 where there is none. */
  of(name: string): number {
    return this.#counts.get(name) ?? 0;
  }

  times(name: string): readonly number[] {
    return this.#times.get(name) ?? [];
  }

  lines(): string[] {
    const counts = [...this.#counts].map(([name, count]) => `${name.padEnd(44)} ${count}`);
    const times = [...this.#times].map(([name, values]) => {
      const sorted = [...values].sort((a, b) => a - b);
      const [middle, most] = [sorted[sorted.length >> 1]!, sorted.at(-1)!];
      const told = `${Math.round(middle)} ms median, ${Math.round(most)} ms slowest`;
      return `${name.padEnd(44)} ${told}, of ${values.length}`;
    });
    return [...counts, ...times];
  }
}
