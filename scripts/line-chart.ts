/** Draws line charts as SVG, in two columns. */

export interface Line {
  readonly name: string;
  /** Times in seconds since the start of the chart, and values. */
  readonly points: readonly (readonly [time: number, value: number])[];
}

export interface Chart {
  readonly title: string;
  readonly unit: string;
  readonly lines: readonly Line[];
}

const [WIDTH, CHART_WIDTH, CHART_HEIGHT] = [880, 424, 150];
const [LEFT, TOP, LEGEND_LINE] = [64, 32, 16];
const GAP = WIDTH - 2 * CHART_WIDTH;
const COLORS = ['#0969da', '#bc4c00', '#1a7f37', '#8250df', '#bf3989', '#7d4e00', '#57606a', '#0a7ea4'];

const STYLE = `text { font: 12px system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif; fill: #1f2328; }
    .title { font-weight: 600; font-size: 13px; } .axis { font-size: 11px; fill: #59636e; }
    .grid { stroke: #d1d9e0; } .line { fill: none; stroke-width: 1.5; } .ground { fill: #ffffff; }`;

/** Returns an SVG of the charts. `duration` is the length of the time axis, in seconds. */
export function drawCharts(label: string, charts: readonly Chart[], duration: number): string {
  const parts: string[] = [];
  let top = 0;
  for (let row = 0; row < charts.length; row += 2) {
    const pair = charts.slice(row, row + 2);
    pair.forEach((chart, column) => {
      parts.push(`<g transform="translate(${column * (CHART_WIDTH + GAP)},${top})">`);
      parts.push(...drawChart(chart, duration), '</g>');
    });
    const legend = Math.max(...pair.map(({ lines }) => legendOf(lines).at(-1)?.y ?? 0));
    top += TOP + CHART_HEIGHT + 24 + legend + 28;
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-8 -4 ${WIDTH + 16} ${top}" width="${WIDTH + 16}" height="${top}" role="img" aria-label="${escaped(label)}">
  <style>${STYLE}</style>
  <rect class="ground" x="-8" y="-4" width="${WIDTH + 16}" height="${top}"/>
  ${parts.join('\n  ')}
</svg>
`;
}

function drawChart({ title, unit, lines }: Chart, duration: number): string[] {
  const highest = Math.max(0, ...lines.flatMap(({ points }) => points.map(([, value]) => value)));
  const step = tickOf(highest);
  const most = Math.max(step, Math.ceil(highest / step) * step);
  const x = (time: number) => LEFT + (time / duration) * (CHART_WIDTH - LEFT);
  const y = (value: number) => TOP + CHART_HEIGHT * (1 - value / most);
  const parts = [text(0, 16, title, 'title')];
  for (let tick = 0; tick <= most + step / 2; tick += step) {
    parts.push(`<path class="grid" d="M${LEFT} ${round(y(tick))}H${CHART_WIDTH}"/>`);
    parts.push(text(LEFT - 6, y(tick) + 4, formatted(tick, unit, most), 'axis', 'end'));
  }
  const minutes = Math.floor(duration / 60);
  for (let minute = 0; minute <= minutes; minute++) {
    const anchor = minute === 0 ? 'start' : x(minute * 60) > CHART_WIDTH - 20 ? 'end' : 'middle';
    parts.push(text(x(minute * 60), TOP + CHART_HEIGHT + 16, `${minute} min`, 'axis', anchor));
  }
  lines.forEach(({ points }, index) => {
    const path = points.map(([time, value]) => `${round(x(time))} ${round(y(value))}`).join('L');
    parts.push(`<path class="line" stroke="${colorOf(index)}" d="M${path}"/>`);
  });
  legendOf(lines).forEach(({ x: left, y: down, name }, index) => {
    const base = TOP + CHART_HEIGHT + 24 + down;
    parts.push(`<rect x="${left}" y="${base + 3}" width="10" height="10" rx="2" fill="${colorOf(index)}"/>`);
    parts.push(text(left + 15, base + 12, name));
  });
  return parts;
}

/** The places of the names below a chart, in lines of limited width. */
function legendOf(lines: readonly Line[]): { x: number; y: number; name: string }[] {
  let [x, y] = [0, 0];
  return lines.map(({ name }) => {
    const width = 30 + name.length * 7;
    if (x > 0 && x + width > CHART_WIDTH) [x, y] = [0, y + LEGEND_LINE];
    const place = { x, y, name };
    x += width;
    return place;
  });
}

/** The distance of the grid lines: 1, 2 or 5 times a power of ten, for at most five lines. */
function tickOf(highest: number): number {
  if (highest === 0) return 1;
  const power = 10 ** Math.floor(Math.log10(highest / 4));
  return ([1, 2, 5, 10].find((factor) => factor * power * 5 >= highest) ?? 10) * power;
}

const SCALES: Readonly<Record<string, readonly (readonly [size: number, name: string])[]>> = {
  s: [
    [1, 's'],
    [1e-3, 'ms'],
    [1e-6, 'µs'],
  ],
  bytes: [
    [1e9, 'GB'],
    [1e6, 'MB'],
    [1e3, 'kB'],
    [1, 'B'],
  ],
  percentunit: [[0.01, '%']],
  reqps: [[1, '/s']],
};

/** A value in the unit of Grafana. The highest value of the axis chooses the prefix of the unit. */
function formatted(value: number, unit: string, most: number): string {
  const scales = SCALES[unit] ?? [[1, '']];
  const [size, name] = scales.find(([least]) => most >= least) ?? scales.at(-1) ?? [1, ''];
  const number = (value / size).toLocaleString('en', { maximumSignificantDigits: 3 });
  return `${number}${name === '%' || name === '/s' || name === '' ? '' : ' '}${name}`;
}

function colorOf(index: number): string {
  return COLORS[index % COLORS.length] ?? '';
}

function text(x: number, y: number, content: string, kind?: string, anchor?: string): string {
  const attributes = `${kind ? ` class="${kind}"` : ''}${anchor ? ` text-anchor="${anchor}"` : ''}`;
  return `<text x="${round(x)}" y="${round(y)}"${attributes}>${escaped(content)}</text>`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function escaped(value: string): string {
  return value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
