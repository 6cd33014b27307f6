import { readdirSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** True if `dist` is newer than all its sources. */
export function isCurrent(): boolean {
  const sources = [
    'src',
    '../contract/src',
    '../template/src',
    'package.json',
    'tsconfig.src.json',
    'tsdown.config.ts',
    'tsdown.entries.config.ts',
  ]
  const changes = sources.flatMap((source) => changesIn(root + source))
  // The other entries are built last, so check one of them too.
  const [oldest = 0] = ['dist/index.mjs', 'dist/browser.mjs'].flatMap((file) => changesIn(root + file)).sort(ascending)
  return oldest > Math.max(...changes)
}

const ascending = (a: number, b: number) => a - b

function changesIn(path: string): number[] {
  const found = statSync(path, { throwIfNoEntry: false })
  if (!found) return [0]
  if (!found.isDirectory()) return [found.mtimeMs]
  return readdirSync(path, { recursive: true }).map((name) => statSync(`${path}/${String(name)}`).mtimeMs)
}
