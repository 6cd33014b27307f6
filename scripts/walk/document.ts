/** A document with executable blocks. Each block is a fenced block after `<!-- walk: name -->`. */
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export interface WalkedDocument {
  block(name: string): string
  commands(name: string): string[]
  /** Returns the code in the first column of the table after the mark `name`. */
  firstColumn(name: string): string[]
  /** Writes the block `file <file>`, followed by the block `more of <file>` if there is one. */
  write(file: string, folder: string): void
}

export function openDocument(root: string, name: string): WalkedDocument {
  const text = readFileSync(join(root, name), 'utf8')
  const find = (mark: string): string | undefined =>
    new RegExp(`<!-- walk: ${mark} -->\\s*\`\`\`\\w*\\n([\\s\\S]*?)\`\`\``).exec(text)?.[1]
  const block = (mark: string): string => {
    const found = find(mark)
    if (found === undefined) throw new Error(`${name} has no block behind <!-- walk: ${mark} -->`)
    return found
  }
  return {
    block,
    commands: (mark) =>
      block(mark)
        .split('\n')
        .filter((line) => line.startsWith('$ '))
        .map((line) => line.slice(2)),
    firstColumn(mark) {
      const [, table = ''] = new RegExp(`<!-- walk: ${mark} -->\\s*((?:\\|.*\\n)+)`).exec(text) ?? []
      return [...table.matchAll(/^\| `([^`]+)` \|/gm)].map(([, code = '']) => code)
    },
    write(file, folder) {
      const target = join(folder, file)
      mkdirSync(dirname(target), { recursive: true })
      writeFileSync(target, block(`file ${file}`))
      appendFileSync(target, find(`more of ${file}`) ?? '')
    },
  }
}
