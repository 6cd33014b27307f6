/** Runs the code of a guide. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('../../', import.meta.url))
const folder = `${root}node_modules/.docs-blocks`

/** Bundles the block after `<!-- run: name -->` with the client's source, and imports it. */
export async function importBlock<T>(page: string, name: string): Promise<T> {
  const text = readFileSync(new URL(`../../../../docs/sdk/${page}`, import.meta.url), 'utf8')
  mkdirSync(folder, { recursive: true })
  for (const [, file = '', code = ''] of text.matchAll(/^<!-- run: (\S+) -->\n```ts\n(.*?)^```/gms)) {
    writeFileSync(`${folder}/${file}`, code)
  }
  const outfile = `${folder}/${name}.mjs`
  await build({
    entryPoints: [`${folder}/${name}`],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    external: ['express', 'hono', 'eventsource-parser'],
    alias: { '@stet/sdk': `${root}src/index.ts` },
    logLevel: 'silent',
  })
  return (await import(pathToFileURL(outfile).href)) as T
}
