/**
 * The part of prom-client that is used: its registry, which writes the exposition format. The index of the
 * package brings in its cluster, push gateway and default metrics, several MB that nothing here needs.
 */
declare module 'prom-client/lib/registry.js' {
  export interface MetricSample {
    readonly metricName?: string;
    readonly labels?: Readonly<Record<string, string | number>>;
    /** Written after `labels`; formatted once for each object, so it is best reused. */
    readonly sharedLabels?: Readonly<Record<string, string>>;
    readonly value: number;
  }
  export interface MetricValues {
    readonly name: string;
    readonly help: string;
    readonly type: 'counter' | 'gauge' | 'histogram';
    readonly values: readonly MetricSample[];
  }
  /** Anything that has a name and can be read is a metric to the registry. */
  export interface ReadableMetric {
    readonly name: string;
    get(): MetricValues | Promise<MetricValues>;
  }
  export default class Registry {
    readonly contentType: string;
    registerMetric(metric: ReadableMetric): void;
    getMetricsAsArray(): readonly ReadableMetric[];
    getMetricsAsString(metric: ReadableMetric): Promise<string>;
  }
}
