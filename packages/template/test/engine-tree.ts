/** Prompts for both parsers, and their trees in comparable form. */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { normaliseLineEnds } from '../src/compile-error.ts'
import { TAG_NAMES } from '../src/parse/parse-text.ts'

const folder = fileURLToPath(new URL('../../server/test/corpus/', import.meta.url))

/** The prompts of the corpus that promptl-ai itself can read. */
export function corpusTexts(): [name: string, text: string][] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.promptl'))
  const texts = files.sort().map((file): [string, string] => {
    return [file, normaliseLineEnds(readFileSync(folder + file, 'utf8'))]
  })
  return texts.filter(([name]) => !/^faults|^repairs\/(schema|comment)/.test(name))
}

const ENDLESS = new RegExp(`</?(?:${TAG_NAMES.join('|')})/(?!>)`)

/** promptl-ai never returns from `<user/x`, and takes all memory meanwhile. */
export function isEndlessInEngine(text: string): boolean {
  return ENDLESS.test(text)
}

/** Keys that only one of the parsers sets, and ends that stet sets more exactly. */
const LEFT_OUT = new Set([
  'loc',
  'raw',
  'leadingComments',
  'trailingComments',
  'comments',
  'start',
  'end',
  'sourceType',
])

export function strippedTree(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(strippedTree)
  if (typeof node !== 'object' || node === null) return typeof node === 'function' ? undefined : node
  const { type } = node as { type?: string }
  const kept = Object.entries(node).filter(([key, value]) => {
    if (LEFT_OUT.has(key) || value === undefined || value === null) return key === 'start' && hasExactStart(type)
    return !(type === 'Comment' && key === 'data') && !(key === 'type' && type === 'ElseBlock')
  })
  return Object.fromEntries(kept.map(([key, value]) => [key, strippedTree(value)]))
}

function hasExactStart(type: string | undefined): boolean {
  return type !== 'Fragment' && type !== 'ElseBlock' && type !== 'IfBlock'
}

const PIECES = [
  ...['{{', '}}', '{{ a }}', '{{ if a }}', '{{ else }}', '{{ else if b }}', '{{ endif }}', '{{ for x in l }}'],
  ...['{{ for x, i in l }}', '{{ endfor }}', '<user>', '</user>', '<step as="x">', '</step>', '<content-text>'],
  ...['</content-text>', '/*', '*/', '<!--', '-->', '---', '---\n', '\n', ' ', '\t', 'text', '\\', '\\{{', '<', '>'],
  ...['<b>', '"', "'", '<user name="x">', '<user name={{ a }}>', '<user name=x>', '<prompt path="a" />', '{{ a.b }}'],
  ...['<tool id="1" name=\'f &amp; &lt\' />', '{{ ((a) + 1) }}', '{{ { a: 1 } }}', '{{ "}}" }}', '-', '----', 'é😀'],
  ...['</system>', '<system>', '<message role="user">', '{{ x = 1 }}', '{{ a ? b : c }}', '{{ /* c */ a }}', '&amp;'],
  ...['{', '}', '<scope a={{ 1 }}>', '</scope>', '{{elseif a}}', '<userx>', '\u00a0'],
]

/** Changed prompts of the corpus, and random pieces one after another. The same seed yields the same texts. */
export function* mutations(count: number, seed = 1): Generator<string> {
  const random = randomNumbers(seed)
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T
  const known = corpusTexts().map(([, text]) => text)
  for (let made = 0; made < count; made += 1) {
    if (random() >= 0.5) {
      yield Array.from({ length: 1 + Math.floor(random() * 14) }, () => pick(PIECES)).join('')
      continue
    }
    const text = pick(known)
    const at = Math.floor(random() * text.length)
    const rest = random() < 0.5 ? pick(PIECES) + text.slice(at) : text.slice(at + 1 + Math.floor(random() * 3))
    yield text.slice(0, at) + rest
  }
}

/** Mulberry32. */
export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
