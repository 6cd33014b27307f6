/** Prints rows in columns as wide as their widest cell: the first one to the left, the others to the right. */
export function printTable(rows: readonly (readonly string[])[]): void {
  const widths = rows.reduce<number[]>((most, row) => row.map((cell, at) => Math.max(most[at] ?? 0, cell.length)), [])
  for (const row of rows) {
    const cells = row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)))
    console.log(cells.join('  '))
  }
}
