/** Formats the figures of a run as a plain-text table. */

export function printTable(title: string, rows: readonly (readonly (string | number)[])[]): void {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => `${row[column]}`.length)));
  const lines = rows.map((row) =>
    row.map((cell, column) => `${cell}`.padEnd(widths[column] ?? 0)).join('  '),
  );
  console.log(`${title}\n${lines.map((line) => `  ${line.trimEnd()}`).join('\n')}\n`);
}
