/** What a batch threshold is worth, as a picture: lateness, rate and memory side by side, a line an engine. */
import type { EntryBytes } from './delay-memory.ts';
import type { LateFigures } from './lateness.ts';

export interface BatchPoint {
  readonly engine: string;
  readonly batchMs: number;
  readonly figures: LateFigures;
  readonly bytes: EntryBytes;
}

interface Panel {
  readonly title: string;
  readonly unit: string;
  readonly value: (point: BatchPoint) => number;
}

const PANELS: readonly Panel[] = [
  { title: 'lateness, p99', unit: 'ms', value: ({ figures }) => figures.p99Ms },
  { title: 'rate', unit: 'thousand a second of CPU', value: ({ figures }) => figures.perCpuSecond / 1000 },
  { title: 'memory', unit: 'bytes an entry', value: ({ bytes }) => bytes.heap },
];
/** By engine, in turn: told apart without colours, too. */
const STROKES = [
  { colour: '#0b6bcb', dash: '' },
  { colour: '#c4570c', dash: '7 3' },
  { colour: '#2c7a39', dash: '2 3' },
  { colour: '#7a3fa8', dash: '9 3 2 3' },
];
const WIDTH = 300;
const PLOT = { left: 52, top: 64, width: 220, height: 210 };
const HEIGHT = 350;

/** `caption`: what was measured, and where. */
export function delayFigure(points: readonly BatchPoint[], caption: string): string {
  const engines = [...new Set(points.map(({ engine }) => engine))];
  const panels = PANELS.map((panel, index) => panelOf(panel, index, points, engines));
  const width = WIDTH * PANELS.length;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${HEIGHT}" viewBox="0 0 ${width} ${HEIGHT}" font-family="sans-serif" font-size="12">
<title>Delay engines by batch threshold</title>
<rect width="${width}" height="${HEIGHT}" fill="#fff"/>
${legend(engines)}
${panels.join('\n')}
${label(PLOT.left, HEIGHT - 12, caption, 'start')}
</svg>
`;
}

function legend(engines: readonly string[]): string {
  return engines
    .map((engine, index) => {
      const x = PLOT.left + index * 110;
      return `${line([`${x},18`, `${x + 30},18`], index)}${label(x + 36, 22, engine, 'start')}`;
    })
    .join('\n');
}

function panelOf(
  panel: Panel,
  index: number,
  points: readonly BatchPoint[],
  engines: readonly string[],
): string {
  const thresholds = [...new Set(points.map(({ batchMs }) => batchMs))].sort((a, b) => a - b);
  const ticks = decades(points.map(panel.value));
  const x = (batchMs: number) =>
    PLOT.left + (PLOT.width * (thresholds.indexOf(batchMs) + 0.5)) / thresholds.length;
  const y = (value: number) => {
    const [low, high] = [Math.log10(ticks[0]!), Math.log10(ticks.at(-1)!)];
    return PLOT.top + PLOT.height * (1 - (Math.log10(Math.max(value, ticks[0]!)) - low) / (high - low));
  };
  const bottom = PLOT.top + PLOT.height;
  const parts = [
    label(PLOT.left, 48, `${panel.title} (${panel.unit})`, 'start'),
    ...ticks.flatMap((tick) => [
      `<path d="M${PLOT.left},${fixed(y(tick))}h${PLOT.width}" stroke="#ddd"/>`,
      label(PLOT.left - 6, y(tick) + 4, tick.toLocaleString('en', { maximumFractionDigits: 4 }), 'end'),
    ]),
    `<path d="M${PLOT.left},${PLOT.top}V${bottom}h${PLOT.width}" fill="none" stroke="#333"/>`,
    ...thresholds.map((batchMs) =>
      label(x(batchMs), bottom + 18, batchMs === 0 ? 'none' : `${batchMs} ms`, 'middle'),
    ),
    label(PLOT.left + PLOT.width / 2, bottom + 38, 'batch threshold', 'middle'),
    ...engines.flatMap((engine, number) => {
      const own = points.filter((point) => point.engine === engine);
      const at = own.map((point) => `${fixed(x(point.batchMs))},${fixed(y(panel.value(point)))}`);
      const { colour } = STROKES[number % STROKES.length]!;
      const dots = at.map((place) => {
        const [cx, cy] = place.split(',');
        return `<circle cx="${cx}" cy="${cy}" r="3" fill="${colour}"/>`;
      });
      return [line(at, number), ...dots];
    }),
  ];
  return `<g transform="translate(${index * WIDTH},0)">\n${parts.join('\n')}\n</g>`;
}

/** Powers of ten around all values; at least two. */
function decades(values: readonly number[]): number[] {
  const positive = values.filter((value) => value > 0);
  const low = Math.floor(Math.log10(Math.min(...positive)));
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...positive))));
  return Array.from({ length: high - low + 1 }, (_, index) => 10 ** (low + index));
}

function line(at: readonly string[], engine: number): string {
  const { colour, dash } = STROKES[engine % STROKES.length]!;
  return `<polyline points="${at.join(' ')}" fill="none" stroke="${colour}" stroke-width="2" stroke-dasharray="${dash}"/>`;
}

function label(x: number, y: number, text: string, anchor: 'start' | 'middle' | 'end'): string {
  return `<text x="${fixed(x)}" y="${fixed(y)}" text-anchor="${anchor}" fill="#222">${text}</text>`;
}

function fixed(value: number): string {
  return value.toFixed(1);
}
