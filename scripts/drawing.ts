/** Draws boxes, arrows and texts as SVG, for light and dark pages. */

export type Tone = 'plain' | 'strong' | 'fault' | 'soft';
export type Align = 'start' | 'middle' | 'end';

export interface Point {
  readonly x: number;
  readonly y: number;
}

const STYLE = `
    svg { font: 13px system-ui, -apple-system, 'Segoe UI', sans-serif; }
    .page { fill: #ffffff; }
    text { fill: #1f2328; }
    .soft-text { fill: #59636e; }
    .strong-text { font-weight: 600; }
    .fault-text { fill: #b3261e; font-weight: 600; }
    .code { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: 12px; }
    .box { fill: #f6f8fa; stroke: #818b98; }
    .strong-box { fill: #ddf4ff; stroke: #0969da; }
    .soft-box { fill: none; stroke: #818b98; stroke-dasharray: 5 4; }
    .line { fill: none; stroke: #59636e; stroke-width: 1.5; }
    .soft-line { stroke-dasharray: 5 4; }
    .strong-line { stroke: #0969da; }
    .fault-line { stroke: #b3261e; }
    .head { fill: #59636e; }
    .strong-head { fill: #0969da; }
    @media (prefers-color-scheme: dark) {
      .page { fill: #0d1117; }
      text { fill: #f0f6fc; }
      .soft-text { fill: #9198a1; }
      .fault-text { fill: #ff7b72; }
      .box { fill: #151b23; stroke: #656c76; }
      .strong-box { fill: #0c2d6b; stroke: #4493f8; }
      .soft-box { fill: none; stroke: #656c76; }
      .line { stroke: #9198a1; }
      .strong-line { stroke: #4493f8; }
      .fault-line { stroke: #ff7b72; }
      .head { fill: #9198a1; }
      .strong-head { fill: #4493f8; }
    }`;

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** A picture, to which parts are added. */
export class Drawing {
  readonly #parts: string[] = [];

  /** Draws a text. A part between backquotes is code. */
  text(
    { x, y }: Point,
    text: string,
    { tone = 'plain', align = 'start' }: { tone?: Tone; align?: Align } = {},
  ): void {
    const spans = text.split('`').map((part, index) => {
      return index % 2 === 0 ? escaped(part) : `<tspan class="code">${escaped(part)}</tspan>`;
    });
    const kind = tone === 'plain' ? '' : ` class="${tone}-text"`;
    this.#parts.push(`<text x="${x}" y="${y}" text-anchor="${align}"${kind}>${spans.join('')}</text>`);
  }

  /** Draws a box with lines of text in its middle. */
  box({ x, y }: Point, width: number, height: number, lines: readonly string[], tone: Tone = 'plain'): void {
    const kind = tone === 'plain' ? 'box' : `${tone}-box`;
    this.#parts.push(`<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="6" class="${kind}"/>`);
    const first = y + height / 2 + 4.5 - ((lines.length - 1) * 17) / 2;
    for (const [index, line] of lines.entries()) {
      const textTone = index === 0 && lines.length > 1 ? 'strong' : 'plain';
      this.text({ x: x + width / 2, y: first + index * 17 }, line, { tone: textTone, align: 'middle' });
    }
  }

  /** Draws an arrow along points. */
  arrow(points: readonly Point[], tone: Tone = 'plain'): void {
    const [from, to] = points.slice(-2) as [Point, Point];
    const [x, y] = [Math.sign(to.x - from.x), Math.sign(to.y - from.y)];
    this.line([...points.slice(0, -1), { x: to.x - 6 * x, y: to.y - 6 * y }], tone);
    const corners = [to, { x: to.x - 9 * x + 4.5 * y, y: to.y - 9 * y + 4.5 * x }];
    corners.push({ x: to.x - 9 * x - 4.5 * y, y: to.y - 9 * y - 4.5 * x });
    const kind = tone === 'strong' ? ' strong-head' : '';
    this.#parts.push(
      `<polygon class="head${kind}" points="${corners.map((point) => `${point.x},${point.y}`).join(' ')}"/>`,
    );
  }

  line(points: readonly Point[], tone: Tone = 'plain'): void {
    const kind = tone === 'plain' ? '' : ` ${tone}-line`;
    const path = points.map((point) => `${point.x},${point.y}`).join(' ');
    this.#parts.push(`<polyline class="line${kind}" points="${path}"/>`);
  }

  /** Draws a cross, where something ends. */
  cross({ x, y }: Point): void {
    for (const side of [7, -7]) {
      this.line(
        [
          { x: x - 7, y: y - side },
          { x: x + 7, y: y + side },
        ],
        'fault',
      );
    }
  }

  /** Returns the picture. The description is read to people who do not see it. */
  svg(width: number, height: number, description: string): string {
    return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
  <title>${escaped(description)}</title>
  <style>${STYLE}
  </style>
  <rect class="page" width="100%" height="100%"/>
  ${this.#parts.join('\n  ')}
</svg>
`;
  }
}
