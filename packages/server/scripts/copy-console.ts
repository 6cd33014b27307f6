/** Copies the console's built files into `dist/console`, from which the server serves them. */
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

interface Built {
  files: { path: string; br: number | null; gz: number | null }[]
}

const source = fileURLToPath(new URL('../../console/dist', import.meta.url))
const dist = fileURLToPath(new URL('../dist', import.meta.url))
const { files } = JSON.parse(readFileSync(join(source, 'console.json'), 'utf8')) as Built
const copies = files.flatMap(({ path, br, gz }) => [
  path,
  ...(br === null ? [] : [`${path}.br`]),
  ...(gz === null ? [] : [`${path}.gz`]),
])
for (const path of ['console.json', ...copies]) {
  const target = join(dist, 'console', path)
  mkdirSync(dirname(target), { recursive: true })
  copyFileSync(join(source, path), target)
}
