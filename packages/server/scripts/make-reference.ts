/**
 * Writes `dist/reference.js.gz`, the only script of `/docs`: the standalone file of Scalar between the two files of
 * `reference/`. Fails if it contains a package whose license is not in `reference/LICENSES.txt`.
 */
import { createHash } from 'node:crypto'
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'

// The policy of the page allows the styles of this file by their hashes: `styleHashes` in reference-page.ts.
const reviewed = 'bf091006bdc3af6067af77c2f534812e3e633e94a94e87138069f570f33b762c'

const root = fileURLToPath(new URL('..', import.meta.url))
const standalone = join(
  dirname(createRequire(import.meta.url).resolve('@scalar/api-reference')),
  'browser/standalone.js',
)
const text = readFileSync(standalone, 'utf8')
const digest = createHash('sha256').update(text).digest('hex')
if (digest !== reviewed)
  throw new Error(`${standalone} has changed: review its styles and licenses, then set ${digest}`)

const licenses = readFileSync(join(root, 'reference/LICENSES.txt'), 'utf8')
const unlisted = bundledPackages(`${standalone}.map`).filter((name) => !licenses.includes(`== ${name}@`))
if (unlisted.length > 0) throw new Error(`reference/LICENSES.txt does not list ${unlisted.join(', ')}`)

// The code editor would add `<style>` elements whose text, and so whose hash, changes. Constructed sheets need no permission.
const withElements = 'if(!e.head&&e.adoptedStyleSheets&&'
if (text.split(withElements).length !== 2) throw new Error(`${standalone} does not contain once: ${withElements}`)
const scalar = text.replace(withElements, 'if(e.adoptedStyleSheets&&').replace(/\n\/\/# sourceMappingURL=.*\s*$/, '')

const part = (name: string): string => readFileSync(join(root, 'reference', name), 'utf8')
const script = [part('before.js'), scalar, part('after.js')].join('\n;')
mkdirSync(join(root, 'dist'), { recursive: true })
writeFileSync(join(root, 'dist/reference.js.gz'), gzipSync(script, { level: 9 }))
copyFileSync(join(root, 'reference/LICENSES.txt'), join(root, 'dist/reference-LICENSES.txt'))

function bundledPackages(map: string): string[] {
  const { sources } = JSON.parse(readFileSync(map, 'utf8')) as { sources: string[] }
  const names = sources.map((source) => source.split('/node_modules/').pop() ?? '')
  const packages = names.map((name) => /^(@[^/.]+\/[^/]+|[^@/.][^/]*)\//.exec(name)?.[1])
  const found = new Set(packages.filter((name) => name !== undefined))
  if (found.size < 50) throw new Error(`${map} names only ${found.size} packages`)
  return [...found].sort()
}
