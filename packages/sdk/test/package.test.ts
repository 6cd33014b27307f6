import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { createContext, runInContext } from 'node:vm'
import { gzipSync } from 'node:zlib'
import { build as bundle } from 'vite'
import { beforeAll, describe, expect, it } from 'vitest'
import manifest from '../package.json'
import { packed } from './support/packed.ts'
import { webGlobals } from './support/web-globals.ts'

/** The size of the core, and the size including everything that loads on demand: tools, cache, jobs, proxy frames. */
const CORE_BYTES = 14_000
const WHOLE_BYTES = 19_600

const UUID_V4 = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/

let out: string
beforeAll(async () => {
  out = await packed('package-test')
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
    const files = readdirSync(out).filter((file) => /\.[cm]js$/.test(file))
    expect(files).toContain('index.mjs')
    for (const file of files) {
      const code = readFileSync(`${out}/${file}`, 'utf8')
      const imported = [...code.matchAll(/(?:from |import |import\(|require\()["']([^"']+)["']/g)].map(
        ([, name]) => name,
      )
      expect(imported.filter((name) => !name?.startsWith('./') && name !== 'eventsource-parser')).toEqual([])
    }
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

  it('needs only web globals', async () => {
    const code = await bundled({ isWhole: true })
    const keys: string[] = []
    const fetch = async (_: unknown, { headers }: RequestInit) => {
      keys.push(new Headers(headers).get('idempotency-key') ?? '')
      return Response.json({})
    }
    const ran = runInContext(
      `${code}; const made = new stet.Stet('k', { projectId: 1, cache: true })
      Promise.all([made.versions.create('a'), made.versions.create('b'), made.prompts.get('c')]).then(() => typeof process)`,
      createContext({ ...webGlobals, fetch }),
    )
    expect(await ran).toBe('undefined')
    expect(keys.toSorted().slice(1)).toEqual([expect.stringMatching(UUID_V4), expect.stringMatching(UUID_V4)])
    expect(new Set(keys).size).toBe(3)
  })
})

describe('the declarations', () => {
  it('exist once for both formats', () => {
    expect(readFileSync(`${out}/index.d.mts`, 'utf8')).toMatch(/^\/\/\/ .*\nexport \* from '\.\/index\.cjs'\n$/)
  })

  it('need no other package and no Node types', () => {
    const text = readFileSync(`${out}/index.d.cts`, 'utf8')
    expect(text).toContain('declare class Stet')
    expect(text).not.toMatch(
      /zod|ts-rest|@types\/node|@stet\/contract|node:|NodeJS|Buffer|\bimport\b.*from "(?!\.\/prompt-registry\.cjs")/,
    )
  })
})
