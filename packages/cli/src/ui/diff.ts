import type { Style } from '../terminal/terminal-style.ts'

export interface LineCount {
  added: number
  removed: number
}

/** Undefined means that the text does not exist on that side. */
export async function countLines(before: string | undefined, after: string | undefined): Promise<LineCount> {
  const { diffLines } = await import('diff')
  const count: LineCount = { added: 0, removed: 0 }
  for (const part of diffLines(before ?? '', after ?? '')) {
    if (part.added) count.added += part.count
    if (part.removed) count.removed += part.count
  }
  return count
}

export function formatCount({ added, removed }: LineCount): string {
  return [added > 0 ? `+${added}` : '', removed > 0 ? `−${removed}` : ''].filter(Boolean).join(' ')
}

export interface DiffSides {
  beforeName: string
  afterName: string
  before: string
  after: string
}

export async function unifiedDiff({ beforeName, afterName, before, after }: DiffSides, style: Style): Promise<string> {
  const { structuredPatch } = await import('diff')
  const lines = [style.bold(`--- ${beforeName}`), style.bold(`+++ ${afterName}`)]
  for (const hunk of structuredPatch(beforeName, afterName, before, after, '', '', { context: 3 }).hunks) {
    lines.push(style.dim(`@@ -${hunk.oldStart},${hunk.oldLines} +${hunk.newStart},${hunk.newLines} @@`))
    for (const line of hunk.lines) lines.push(paint(line, style))
  }
  return `${lines.join('\n')}\n`
}

export async function wordDiff({ beforeName, afterName, before, after }: DiffSides, style: Style): Promise<string> {
  const { diffArrays } = await import('diff')
  const text = diffArrays(wordsOf(before), wordsOf(after))
    .map(({ value, added, removed }) => {
      const words = value.join('')
      if (added) return style.green(`{+${words}+}`)
      return removed ? style.red(`[-${words}-]`) : words
    })
    .join('')
  return `${style.bold(`--- ${beforeName}`)}\n${style.bold(`+++ ${afterName}`)}\n${text.endsWith('\n') ? text : `${text}\n`}`
}

// Scripts without spaces between words are compared by character.
function wordsOf(text: string): string[] {
  return text.match(/\r?\n|[\p{Script=Latin}\d_]+|[^\S\r\n]+|./gsu) ?? []
}

function paint(line: string, style: Style): string {
  if (line.startsWith('+')) return style.green(line)
  return line.startsWith('-') ? style.red(line) : line
}
