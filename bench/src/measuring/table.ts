type Rows = readonly (readonly string[])[]

/** Prints the first column left-aligned and the others right-aligned. */
export function printTable(rows: Rows): void {
  for (const cells of padded(rows)) console.log(cells.join('  '))
}

export function printMarkdownTable(rows: Rows): void {
  const [head = [], ...others] = padded(rows)
  const rule = head.map((cell, at) =>
    at === 0 ? '-'.repeat(cell.length) : `${'-'.repeat(Math.max(1, cell.length - 1))}:`,
  )
  for (const cells of [head, rule, ...others]) console.log(`| ${cells.join(' | ')} |`)
}

function padded(rows: Rows): string[][] {
  const widths = rows.reduce<number[]>((most, row) => row.map((cell, at) => Math.max(most[at] ?? 0, cell.length)), [])
  return rows.map((row) =>
    row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))),
  )
}
