/** Compresses the built files and lists them, with the addresses of the pages, in `dist/console.json` for the server. */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

const dist = fileURLToPath(new URL('../dist', import.meta.url))
const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
}
/** Addresses that answer with the page. `*` stands for the rest of the path. Every other path is a JSON 404. */
const routes = ['/', '/sign-in', '/p/*', '/runs/*', '/settings/*']

const files = servedFiles().map((path) => {
  const file = join(dist, path)
  const type = types[extname(path)]
  if (!type) throw new Error(`dist/${path}: no media type is known for this file; add it to pack.ts`)
  const body = readFileSync(file)
  const sha256 = createHash('sha256').update(body).digest('hex')
  // The page gets a nonce with every response, and fonts are compressed already.
  const isCompressed = !['.html', '.woff2'].includes(extname(path))
  return { path, type, bytes: body.length, sha256, ...(isCompressed ? compress(file, body) : { br: null, gz: null }) }
})
writeFileSync(join(dist, 'console.json'), `${JSON.stringify({ routes, files }, null, 1)}\n`)

/** The page, its assets, and the licenses of the bundled packages. Vite's manifest is not served. */
function servedFiles(): string[] {
  const assets = readdirSync(join(dist, 'assets')).filter((name) => !/\.(br|gz)$/.test(name))
  return ['index.html', 'LICENSES.txt', ...assets.sort().map((name) => `assets/${name}`)]
}

/** Writes `<file>.br` and `<file>.gz` and returns their sizes in bytes. */
function compress(file: string, body: Buffer): { br: number; gz: number } {
  const br = brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: body.length } })
  const gz = gzipSync(body, { level: 9 })
  writeFileSync(`${file}.br`, br)
  writeFileSync(`${file}.gz`, gz)
  return { br: br.length, gz: gz.length }
}
