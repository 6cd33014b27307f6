import { readdir, readFile, stat } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const folder = fileURLToPath(new URL('..', import.meta.url))
const manifest = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'))

test('the package is at most 500 kB without its license texts, and contains the program, its schema, its skill and nothing native', async () => {
  // 45 kB of it are the readers of CSV and promptfoo, which only `examples import` loads. npm always adds the last three. `release:dry` checks the tarball itself.
  const inFolders = manifest.files.map(async (name: string) =>
    (await readdir(folder + name, { recursive: true })).map((file) => `${name}/${file}`),
  )
  const paths = [...(await Promise.all(inFolders)).flat(), 'LICENSE', 'README.md', 'package.json']
  const program = paths.filter((path) => !/LICENSE/.test(path))
  const sizes = await Promise.all(program.map(async (path) => (await stat(folder + path)).size))
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(500_000)
  expect(paths).toEqual(
    expect.arrayContaining([
      'bin/stet.mjs',
      'dist/LICENSES.txt',
      'dist/main.mjs',
      'schema/config.json',
      'skills/stet/SKILL.md',
    ]),
  )
  const known =
    /^(bin|dist)\/[\w.-]+\.mjs$|^schema\/|^skills\/stet\/SKILL\.md$|^skills\/stet$|^package\.json$|^dist\/LICENSES\.txt$|^LICENSE$|^README\.md$/
  expect(paths.filter((path) => !known.test(path))).toEqual([])
})

test('it has at most five pinned dependencies and no install scripts', () => {
  const versions: string[] = Object.values(manifest.dependencies)
  expect(versions.length).toBeLessThanOrEqual(5)
  for (const version of versions) expect(version).toMatch(/^(\d+\.\d+\.\d+|workspace:\*)$/)
  expect(Object.keys(manifest.scripts).filter((name) => /install|prepare/.test(name))).toEqual([])
})

test('the entry loads only what --version needs; the rest loads lazily', async () => {
  const entry = await readFile(new URL('../dist/main.mjs', import.meta.url), 'utf8')
  expect(entry).not.toMatch(/^import /m)
  expect(entry).toMatch(/import\([`"']\.\/program\.mjs/)
})

test('the prompt engine is that of the SDK, which only compiling commands load', async () => {
  const dist = new URL('../dist/', import.meta.url)
  const texts = await Promise.all((await readdir(dist)).map((name) => readFile(new URL(name, dist), 'utf8')))
  const users = texts.filter((text) => text.includes('@stet/sdk/prompt-scan'))
  expect(users).toHaveLength(1)
  expect(users[0]).not.toMatch(/from\s*["'`]@stet\/sdk\/prompt-scan/)
  expect(texts.join('')).not.toMatch(/from\s*["'`]acorn/)
})
