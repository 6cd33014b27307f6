/** Installs the packed tarball in projects of every kind. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { createContext, runInContext } from 'node:vm'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { supportedNodes } from '../../../../scripts/supported-nodes.ts'
import { webGlobals } from '../support/web-globals.ts'
import { ENTRIES, newProject, type Packed, packSdk, runIn } from './packed.ts'

const bin = fileURLToPath(new URL('../../../../node_modules/.bin/', import.meta.url))

const UUID_V4 = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/

let packed: Packed
beforeAll(async () => {
  packed = await packSdk('source')
})
afterAll(() => packed?.remove())

// These checks fail if the main entry is loaded twice.
const CHECKS = `
  const [{ ApiError, RunStream, Stet }, latitude, render, ai, testing, browser, evals] = entries
  const { createMockStet } = testing
  if (latitude.LatitudeApiError !== ApiError || browser.RunStream !== RunStream) throw new Error('two copies')
  const stet = createMockStet({ 'a/b': 'Hello' })
  if (!(stet instanceof Stet) || !(stet.prompts.stream('a/b') instanceof RunStream)) throw new Error('two copies')
  const chunks = []
  for await (const { type } of ai.toUIMessageStream(stet.prompts.stream('a/b'))) chunks.push(type)
  const { messages } = await render.render('Hi {{ a }}', { parameters: { a: 1 } })
  const [{ passed }] = await evals.runScorers(evals.defineEval('a/b', { scorers: { one: () => 1 } }), {})
  console.log(JSON.stringify([passed, chunks.length, typeof latitude.Latitude, typeof browser.openRun, messages[0].content]))
`
const PRINTED = [true, 7, 'function', 'function', 'Hi 1']

describe.each(supportedNodes())('on %s', (node) => {
  it('can be imported', async () => {
    const project = newProject(packed)
    const names = JSON.stringify(['@stet/sdk', ...ENTRIES])
    const imports = `const entries = await Promise.all(${names}.map((name) => import(name)))`
    writeFileSync(`${project}/main.mjs`, `${imports}\n${CHECKS}`)
    expect(JSON.parse(await runIn(project, [node, 'main.mjs']))).toEqual(PRINTED)
  })

  it('can be required', async () => {
    const project = newProject(packed, { type: 'commonjs' })
    const names = JSON.stringify(['@stet/sdk', ...ENTRIES])
    writeFileSync(
      `${project}/main.cjs`,
      `;(async () => { const entries = ${names}.map((name) => require(name))\n${CHECKS} })()`,
    )
    expect(JSON.parse(await runIn(project, [node, 'main.cjs']))).toEqual(PRINTED)
  })

  it.each(['mjs', 'cjs'])('a stack trace names the source files with --enable-source-maps (%s)', async (form) => {
    const project = newProject(packed)
    const load = form === 'mjs' ? "await import('@stet/sdk')" : "require('@stet/sdk')"
    const code = `const { Stet } = ${load}
      const stet = new Stet({ apiKey: 'k', projectId: 1, baseUrl: 'http://127.0.0.1:1', maxRetries: 0, logLevel: 'off' })
      await stet.prompts.run('a').catch(({ stack }) => console.log(stack))`
    writeFileSync(`${project}/main.${form}`, form === 'mjs' ? code : `;(async () => { ${code} })()`)
    const stack = await runIn(project, [node, '--enable-source-maps', `main.${form}`])
    const [, line = ''] = /sdk\/src\/transport\/request\.ts:(\d+):\d+/.exec(stack) ?? []
    const source = readFileSync(new URL('../../src/transport/request.ts', import.meta.url), 'utf8').split('\n')
    expect(source[Number(line) - 1]).toContain('new ConnectionError')
    expect(stack).toContain('sdk/src/stream/read-run.ts')
  })
})

it('every file that names a source map has one', () => {
  const files = readdirSync(`${packed.folder}/dist`)
  const named = files.filter((file) =>
    /^\/\/# sourceMappingURL=/m.test(readFileSync(`${packed.folder}/dist/${file}`, 'utf8')),
  )
  expect(named.map((file) => `${file}.map`).sort()).toEqual(files.filter((file) => file.endsWith('.map')).sort())
})

describe('in TypeScript', () => {
  const PROGRAM = `
    import { Stet, type RunResult } from '@stet/sdk'
    import { Latitude, LatitudeApiError } from '@stet/sdk/latitude'
    import { render } from '@stet/sdk/render'
    import { toUIMessageStreamResponse } from '@stet/sdk/ai'
    import { createMockStet, events, recordFetch, sseResponse } from '@stet/sdk/testing'
    import { openRun } from '@stet/sdk/browser'
    import { defineEval } from '@stet/sdk/eval'
    declare module '@stet/sdk' {
      interface PromptRegistry { 'support/reply': { parameters: { ticket: string }; output: { score: number } } }
    }
    const stet: Stet = createMockStet({ 'support/reply': events('x') }, { fetch: recordFetch('f.json') })
    export const score = stet.prompts.run('support/reply', { parameters: { ticket: 't' } }).then((r) => r.response.object.score.toFixed())
    // @ts-expect-error the registry of this application holds in every entry
    stet.prompts.run('support/reply', { parameters: {} })
    export const old: Promise<RunResult | undefined> = new Latitude('k').prompts.run('a', { onError: (e) => e.status })
    export const answer = (s: Response) => toUIMessageStreamResponse(openRun<{ a: number }>(s.url))
    export default defineEval('support/reply', { scorers: { one: ({ object, parameters }) => object.score > parameters.ticket.length } })
    // @ts-expect-error the registry types scorers too
    defineEval('support/reply', { scorers: { one: ({ parameters }) => parameters.tikket } })
    export const rest = [render('x'), sseResponse([]), LatitudeApiError]
  `

  it.each(['node16', 'bundler'])('with module resolution %s, strict', async (resolution) => {
    const project = newProject(packed)
    const compilerOptions = {
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      noEmit: true,
      // Checks the package's declarations once, without those of the language.
      skipLibCheck: resolution === 'bundler',
      skipDefaultLibCheck: true,
      types: [],
      target: 'ES2022',
      lib: ['ES2022', 'DOM', 'DOM.Iterable', 'DOM.AsyncIterable', 'ESNext.Disposable'],
      module: resolution === 'bundler' ? 'ESNext' : 'Node16',
      moduleResolution: resolution,
    }
    writeFileSync(`${project}/tsconfig.json`, JSON.stringify({ compilerOptions, include: ['*.ts', '*.mts', '*.cts'] }))
    writeFileSync(`${project}/main.mts`, PROGRAM)
    if (resolution === 'node16') writeFileSync(`${project}/main.cts`, PROGRAM)
    await runIn(project, [`${bin}tsc`, '-p', project])
  })

  // The enclosing package decides whether a `.d.ts` file is CommonJS or ESM.
  it.each(['commonjs', 'module'])('applies generated types of a package of type %s to both formats', async (type) => {
    const project = newProject(packed, { type })
    const registry = `import '@stet/sdk'
      declare module '@stet/sdk' {
        interface PromptRegistry { 'support/reply': { parameters: { ticket: string }; output: { score: number } } }
      }`
    writeFileSync(`${project}/prompts.gen.d.ts`, registry)
    const program = `import { Stet } from '@stet/sdk'
      export const score = new Stet().prompts.run('support/reply', { parameters: { ticket: 't' } }).then((r) => r.response.object.score.toFixed())
      // @ts-expect-error another parameter does not compile
      new Stet().prompts.run('support/reply', { parameters: { tikket: 't' } })`
    for (const form of ['mts', 'cts']) writeFileSync(`${project}/main.${form}`, program)
    const options = '--strict --noEmit --skipLibCheck --module node16 --target es2022'
    const lib = ['--lib', 'es2022,dom,dom.iterable,dom.asynciterable']
    await runIn(project, [`${bin}tsc`, ...options.split(' '), ...lib, 'main.mts', 'main.cts', 'prompts.gen.d.ts'])
  })

  it('has declarations without external imports', () => {
    const files = readdirSync(`${packed.folder}/dist`).filter((file) => /\.d\.[cm]ts$/.test(file))
    // One file per entry and format, plus the registry that both formats share.
    expect(files).toHaveLength(2 * (ENTRIES.length + 1) + 2)
    for (const file of files) {
      const text = readFileSync(`${packed.folder}/dist/${file}`, 'utf8')
      expect(text).not.toMatch(/zod|ts-rest|@types\/node|@stet\/(?!sdk')|NodeJS|Buffer/)
      const imported = [...text.matchAll(/from "([^"]+)"/g)].map(([, name]) => name)
      expect(
        imported.filter((name) => !/^\.\/((index|render)\.[cm]js|prompt-registry\.cjs)$/.test(name ?? '')),
      ).toEqual([])
    }
  })
})

describe('in a bundle', () => {
  /** Bundles and minifies the whole entry, except for the modules in `outside`. */
  async function bundled(
    entry: string,
    outside: string[] = [],
    globalName = 'entry',
  ): Promise<{ code: string; inputs: string[] }> {
    const project = newProject(packed)
    const made = await build({
      stdin: { contents: `export * from '${entry}'`, resolveDir: project },
      bundle: true,
      minify: true,
      write: false,
      metafile: true,
      format: outside.length > 0 ? 'esm' : 'iife',
      globalName,
      platform: 'browser',
      target: 'es2022',
      external: outside,
      logLevel: 'silent',
    })
    return { code: made.outputFiles.map(({ text }) => text).join(''), inputs: Object.keys(made.metafile.inputs) }
  }
  const weightOf = (code: string) => gzipSync(code, { level: 9 }).length

  it.each([
    ['@stet/sdk/latitude', 2048],
    ['@stet/sdk/render', 3072],
    ['@stet/sdk/ai', 3072],
    ['@stet/sdk/eval', 4096],
  ])('%s adds at most %i bytes to the main entry', async (entry, budget) => {
    const { code, inputs } = await bundled(entry, ['./index.mjs', './render.mjs', './engine-*'])
    expect(inputs.some((input) => /dist\/(index|engine)/.test(input))).toBe(false)
    expect(weightOf(code)).toBeGreaterThan(100)
    expect(weightOf(code)).toBeLessThanOrEqual(budget)
  })

  // In one script, the lazy parts of RunStream are included. See ADR 15.
  it('@stet/sdk/browser is at most 8300 bytes, 9800 with all lazy parts', async () => {
    const atStart = await bundled('@stet/sdk/browser', ['./partial-json-*', './frames-*'])
    const { code } = await bundled('@stet/sdk/browser')
    console.log(`@stet/sdk/browser: ${weightOf(atStart.code)} bytes, ${weightOf(code)} with all that it loads later`)
    expect(weightOf(atStart.code)).toBeLessThanOrEqual(8300)
    expect(weightOf(code)).toBeLessThanOrEqual(9800)
    // These strings occur only in the client.
    expect(code).not.toMatch(/apiKey|STET_API_KEY|\/projects/)
  })

  it('the main entry does not import the engine', async () => {
    const { inputs } = await bundled('@stet/sdk')
    expect(inputs.some((input) => /engine/.test(input))).toBe(false)
  })

  it('the client works with only web globals', async () => {
    const { code } = await bundled('@stet/sdk')
    const keys: string[] = []
    const fetch = async (_: unknown, { headers }: RequestInit) => {
      keys.push(new Headers(headers).get('idempotency-key') ?? '')
      return Response.json({})
    }
    const calls = `const made = new entry.Stet('k', { projectId: 1, cache: true })
      Promise.all([made.versions.create('a'), made.versions.create('b'), made.prompts.get('c')])`
    await runInContext(`${code}; ${calls}`, createContext({ ...webGlobals, fetch }))
    expect(keys.toSorted().slice(1)).toEqual([expect.stringMatching(UUID_V4), expect.stringMatching(UUID_V4)])
    expect(new Set(keys).size).toBe(3)
  })

  it('rendering works with only web globals', async () => {
    const { code } = await bundled('@stet/sdk/latitude')
    const call = "new entry.Latitude('k').prompts.render({ prompt: { content: 'Hi {{ a }}' }, parameters: { a: 1 } })"
    expect(await runInContext(`${code}; ${call}`, createContext({ ...webGlobals }))).toMatchObject({
      messages: [{ role: 'system', content: 'Hi 1' }],
    })
  })

  it.each(['@stet/sdk', ...ENTRIES])('%s needs only web globals', async (entry) => {
    const { code } = await bundled(entry)
    const found: unknown = runInContext(
      `${code}; [Object.keys(entry).length > 0, typeof process]`,
      createContext({ ...webGlobals }),
    )
    expect([...(found as unknown[])]).toEqual([true, 'undefined'])
  })
})
