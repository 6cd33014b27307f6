/** The sizes of what the build makes: initial code, editor, styles, fonts, everything. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'

const dist = fileURLToPath(new URL('../dist/', import.meta.url))
const kB = 1000

interface Chunk {
  file: string
  src?: string
  imports?: string[]
  css?: string[]
  isEntry?: boolean
}

const manifest = JSON.parse(readFileSync(join(dist, '.vite/manifest.json'), 'utf8')) as Record<string, Chunk>
const gzipped = (file: string) => gzipSync(readFileSync(join(dist, file)), { level: 9 }).length

/** The chunk and everything that it loads at once. */
function loadedBy(...keys: string[]): Set<string> {
  const seen = new Set<string>()
  const visit = (key: string) => {
    if (seen.has(key)) return
    seen.add(key)
    for (const next of manifest[key]?.imports ?? []) visit(next)
  }
  keys.forEach(visit)
  return seen
}

const sizeOf = (keys: Iterable<string>) =>
  [...new Set([...keys].map((key) => manifest[key]?.file ?? ''))].reduce((sum, file) => sum + gzipped(file), 0)

const entry = Object.keys(manifest).find((key) => manifest[key]?.isEntry) ?? ''
const screen = (name: string) => {
  const key = `src/screens/${name}/page.tsx`
  expect(Object.keys(manifest)).toContain(key)
  return key
}

test.for(['sign-in', 'home', 'history', 'settings', 'runs', 'runs/inspector'])(
  '%s loads at most 190 kB of code',
  (name) => {
    const size = sizeOf(loadedBy(entry, screen(name)))
    console.log(`initial code of ${name}: ${(size / kB).toFixed(1)} kB gz`)
    expect(size).toBeLessThanOrEqual(190 * kB)
  },
)

test('the prompt screen with its editor loads at most 340 kB of code', () => {
  // Menus, dialogs and compared texts are loaded when they are used.
  const opened = ['src/screens/prompts/open-panes.tsx', 'src/editor/prompt-editor.tsx']
  expect(Object.keys(manifest)).toEqual(expect.arrayContaining(opened))
  const size = sizeOf(loadedBy(entry, screen('prompts'), ...opened))
  console.log(`code with editor: ${(size / kB).toFixed(1)} kB gz`)
  expect(size).toBeLessThanOrEqual(340 * kB)
})

const files = readdirSync(join(dist, 'assets')).map((name) => `assets/${name}`)
const sumOf = (end: string, size: (file: string) => number) =>
  files.filter((file) => file.endsWith(end)).reduce((sum, file) => sum + size(file), 0)

test('styles, fonts and everything together keep their limits', () => {
  const bytes = (file: string) => statSync(join(dist, file)).size
  // Without the compressed copies.
  const all = sumOf('', bytes) - sumOf('.br', bytes) - sumOf('.gz', bytes)
  console.log(`css ${sumOf('.css', gzipped)} B gz, fonts ${sumOf('.woff2', bytes)} B, all ${all} B`)
  expect(sumOf('.css', gzipped)).toBeLessThanOrEqual(25 * kB)
  expect(sumOf('.woff2', bytes)).toBeLessThanOrEqual(150 * kB)
  expect(all).toBeLessThanOrEqual(1_800 * kB)
})

test('the build has at most 45 files of code', () => {
  expect(files.filter((file) => file.endsWith('.js')).length).toBeLessThanOrEqual(45)
})

test('the build contains one React, no source map and no address of another site', () => {
  const scripts = files.filter((file) => file.endsWith('.js')).map((file) => readFileSync(join(dist, file), 'utf8'))
  expect(files.filter((file) => file.endsWith('.map'))).toEqual([])
  expect(scripts.filter((text) => text.includes('reactFiber$')).length).toBe(1)
  // Names of XML dialects, the server itself, what messages of thrown errors point to,
  // and placeholders. None of them is requested.
  const known =
    /^https?:\/\/(www\.w3\.org\/|localhost|127\.0\.0\.1|react\.dev\/errors\/|github\.com\/markedjs\/marked|example\.com\/)/
  const addresses = scripts.flatMap((text) => text.match(/https?:\/\/[\w.-]+[^\s"'`)\\]*/g) ?? [])
  expect(addresses.filter((address) => !known.test(address))).toEqual([])
})
