import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { createContext, runInContext } from 'node:vm'
import { gzipSync } from 'node:zlib'
import { build as pack } from 'tsdown'
import ts from 'typescript'
import { build as bundle } from 'vite'
import { beforeAll, describe, expect, it } from 'vitest'
import manifest from '../package.json'
import config from '../tsdown.config.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
// inside the package, so that its one dependency resolves; ignored by git like all of node_modules
const out = `${root}node_modules/.package-test`
const BUDGET_BYTES = 12_500

beforeAll(async () => {
  await pack({ ...config, cwd: root, outDir: out, logLevel: 'silent' })
})

/** The package as a page would load it: one minified script, dependency included. */
async function bundled(): Promise<string> {
  const lib = { entry: `${out}/index.mjs`, formats: ['iife' as const], name: 'stet' }
  const made = await bundle({ configFile: false, logLevel: 'silent', build: { lib, write: false, minify: true } })
  const outputs = Array.isArray(made) ? made.flatMap(({ output }) => output) : 'output' in made ? made.output : []
  return outputs.map((chunk) => ('code' in chunk ? chunk.code : '')).join('')
}

describe('the package', () => {
  it('has exactly one dependency at run time', () => {
    expect(Object.keys(manifest.dependencies)).toEqual(['eventsource-parser'])
    for (const file of ['index.mjs', 'index.cjs']) {
      const code = readFileSync(`${out}/${file}`, 'utf8')
      const imported = [...code.matchAll(/(?:from |require\()["']([^"']+)["']/g)].map(([, name]) => name)
      expect(imported).toEqual(['eventsource-parser'])
    }
  })

  it('exports the same names as ESM and CJS, and their errors are one family', async () => {
    const esm = (await import(pathToFileURL(`${out}/index.mjs`).href)) as typeof import('../src/index.ts')
    const cjs = createRequire(import.meta.url)(`${out}/index.cjs`) as typeof esm
    expect(Object.keys(cjs).sort()).toEqual(Object.keys(esm).sort())
    expect(cjs.StetError).not.toBe(esm.StetError)
    expect(new cjs.ConfigurationError('m')).toBeInstanceOf(esm.ConfigurationError)
  })

  it(`weighs at most ${BUDGET_BYTES} bytes`, async () => {
    const bytes = gzipSync(await bundled(), { level: 9 }).length
    expect(bytes).toBeGreaterThan(1000)
    expect(bytes).toBeLessThanOrEqual(BUDGET_BYTES)
  })

  it('needs web globals only', async () => {
    const code = await bundled()
    const web = {
      fetch,
      Headers,
      Request,
      Response,
      URL,
      URLSearchParams,
      AbortController,
      AbortSignal,
      ReadableStream,
      TextEncoder,
      TextDecoder,
      crypto,
      console,
      queueMicrotask,
      setTimeout,
      clearTimeout,
      setInterval,
      clearInterval,
    }
    const names = runInContext(
      `${code}; [typeof new stet.Stet('k', { projectId: 1 }).prompts.run, typeof process]`,
      createContext(web),
    )
    expect([...(names as string[])]).toEqual(['function', 'undefined'])
  })
})

describe('the declarations', () => {
  it.each(['index.d.mts', 'index.d.cts'])('%s name nothing from elsewhere', (file) => {
    const text = readFileSync(`${out}/${file}`, 'utf8')
    expect(text).toContain('declare class Stet')
    expect(text).not.toMatch(/zod|ts-rest|@types\/node|@stet\/contract|node:|NodeJS|Buffer|\bimport\b.*from/)
  })

  /** The complaints about an application that uses the declarations alone, without any package beside them. */
  function complaints(application: string): string[] {
    const file = `${out}/application.ts`
    const options: ts.CompilerOptions = {
      strict: true,
      noEmit: true,
      types: [],
      target: ts.ScriptTarget.ES2022,
      lib: [
        'lib.es2022.d.ts',
        'lib.dom.d.ts',
        'lib.dom.iterable.d.ts',
        'lib.dom.asynciterable.d.ts',
        'lib.esnext.disposable.d.ts',
      ],
      module: ts.ModuleKind.ESNext,
      moduleResolution: ts.ModuleResolutionKind.Bundler,
      paths: { '@stet/sdk': [`${out}/index.d.mts`] },
    }
    const host = ts.createCompilerHost(options)
    const { getSourceFile } = host
    host.getSourceFile = (name, ...rest) => {
      if (name === file) return ts.createSourceFile(name, application, ts.ScriptTarget.ES2022)
      const source = parsed.get(name) ?? getSourceFile.call(host, name, ...rest)
      if (source) parsed.set(name, source)
      return source
    }
    const program = ts.createProgram([file], options, host)
    // not those of the standard library, which take most of the time
    const found = [
      ...program.getOptionsDiagnostics(),
      ...program
        .getSourceFiles()
        .filter(({ fileName }) => fileName.startsWith(out))
        .flatMap((source) => [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)]),
    ]
    return found.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '))
  }
  const parsed = new Map<string, ts.SourceFile>()

  const REGISTRY = `import { Stet } from '@stet/sdk'
    declare module '@stet/sdk' {
      interface PromptRegistry { 'support/reply': { parameters: { ticket: string }; output: { score: number } } }
    }
    const stet = new Stet()
    stet.prompts.run('support/reply', { parameters: { ticket: 't' } }).then(({ response }) => response.object.score.toFixed())
    stet.prompts.run('another')
  `

  it('take a registry by module augmentation', () => {
    expect(complaints(REGISTRY)).toEqual([])
    const [complaint] = complaints(`${REGISTRY}; stet.prompts.run('support/reply', { parameters: {} })`)
    expect(complaint).toMatch(/Property 'ticket' is missing/)
  })

  it('refuse unknown paths with strictPaths', () => {
    const strict = `${REGISTRY}; declare module '@stet/sdk' { interface RegistryConfig { strictPaths: true } }`
    expect(complaints(strict)).toEqual([expect.stringMatching(/'"another"' is not assignable/)])
  })
})
