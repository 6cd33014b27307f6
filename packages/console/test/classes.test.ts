/** The type of a class does not tell whether its stylesheet has it. Without it, an element has no style. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const src = fileURLToPath(new URL('../src/', import.meta.url))
const files = readdirSync(src, { recursive: true, encoding: 'utf8' })
const read = (file: string) => readFileSync(join(src, file), 'utf8')

/** By stylesheet, the quoted words of the files that import it, and those that index it. */
const named = new Map<string, { words: Set<string>; classes: Set<string> }>()
for (const file of files.filter((name) => name.endsWith('.tsx'))) {
  const text = read(file)
  for (const [, name, from = ''] of text.matchAll(/import (\w+) from '(.+\.module\.css)'/g)) {
    const sheet = join(dirname(file), from)
    const { words, classes } = named.get(sheet) ?? { words: new Set(), classes: new Set() }
    for (const [, word = ''] of text.matchAll(/'(\w+)'/g)) words.add(word)
    for (const [, word = ''] of text.matchAll(new RegExp(String.raw`\b${name}\['(\w+)'\]`, 'g'))) classes.add(word)
    named.set(sheet, { words, classes })
  }
}

test.for(files.filter((name) => name.endsWith('.module.css')))('%s has the classes that are used', (sheet) => {
  const rules = read(sheet).replace(/\/\*.*?\*\/|:global\(.*?\)/gs, '')
  const defined = new Set([...rules.matchAll(/\.([a-z]\w*)/gi)].map(([, name = '']) => name))
  const { words, classes } = named.get(sheet) ?? { words: new Set(), classes: new Set() }
  expect([...classes].filter((name) => !defined.has(name))).toEqual([])
  expect([...defined].filter((name) => !words.has(name))).toEqual([])
})
