import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build as bundle } from 'vite'
import { beforeAll, describe, expect, it } from 'vitest'
import manifest from '../package.json'
import { built } from './support/packed.ts'

/** The size of the core, and the size including everything that loads on demand: tools, cache, jobs, proxy frames. */
const CORE_BYTES = 14_000
const WHOLE_BYTES = 23_500

let out: string
beforeAll(async () => {
  out = await built('package-test')
})

async function bundled({ isWhole }: { isWhole: boolean }): Promise<string> {
  const lib = { entry: `${out}/index.mjs`, formats: ['iife' as const], name: 'stet' }
  const later = {
    name: 'later',
    resolveDynamicImport: (id: unknown) => ({ id: chunkName(String(id)), external: true }),
  }
  const plugins = isWhole ? [] : [later]
  const build = { lib, write: false, minify: true }
  const made = await bundle({ configFile: false, logLevel: 'silent', plugins, build })
  const outputs = Array.isArray(made) ? made.flatMap(({ output }) => output) : 'output' in made ? made.output : []
  return outputs.map((chunk) => ('code' in chunk ? chunk.code : '')).join('')
}

// The real hash changes with every byte of the lazy parts and would change the core's size by 20 bytes.
function chunkName(id: string): string {
  return id.replace(/^(.*)-[\w-]{8}(?=\.mjs$)/, (_, name: string) => {
    const hash = createHash('sha256').update(name).digest('base64url').slice(0, 8)
    return `${name}-${hash}`
  })
}

describe('the package', () => {
  it('depends only on eventsource-parser at run time', () => {
    expect(manifest.dependencies).toEqual({ 'eventsource-parser': '3.1.1' })
    const reached = new Set(['./index.mjs', './index.cjs'])
    for (const file of reached) {
      const code = readFileSync(join(out, file), 'utf8')
      for (const [, name = ''] of code.matchAll(/(?:from |import |import\(|require\()["']([^"']+)["']/g)) {
        if (name.startsWith('./')) reached.add(name)
        else expect(name).toBe('eventsource-parser')
      }
    }
    expect(reached.size).toBeGreaterThan(10)
  })

  it('exports the same names as ESM and CJS, and instanceof works across both', async () => {
    const esm = (await import(pathToFileURL(`${out}/index.mjs`).href)) as typeof import('../src/index.ts')
    const cjs = createRequire(import.meta.url)(`${out}/index.cjs`) as typeof esm
    expect(Object.keys(cjs).sort()).toEqual(Object.keys(esm).sort())
    expect(cjs.StetError).not.toBe(esm.StetError)
    expect(new cjs.ConfigurationError('m')).toBeInstanceOf(esm.ConfigurationError)
  })

  it(`is at most ${CORE_BYTES} bytes, and ${WHOLE_BYTES} with all lazy parts`, async () => {
    const weigh = async (isWhole: boolean) => gzipSync(await bundled({ isWhole }), { level: 9 }).length
    const core = await weigh(false)
    const whole = await weigh(true)
    console.log(`@stet/sdk: ${core} bytes, ${whole} with all that it loads later`)
    expect(core).toBeGreaterThan(5000)
    expect(whole).toBeGreaterThan(core + 1000)
    expect(core).toBeLessThanOrEqual(CORE_BYTES)
    expect(whole).toBeLessThanOrEqual(WHOLE_BYTES)
  })
})
