import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'tsdown'
import { bundledLicenses } from '../../scripts/build/bundled-licenses.ts'

const shared = { format: 'esm', platform: 'node', target: 'node20', dts: false, clean: false, outDir: 'dist' } as const

/** Prisma's client has its compiler of queries as text, which would stay in memory. In the build it is a file. */
const compilerAsFile = {
  name: 'compiler-as-file',
  load(this: { emitFile(file: object): string }, id: string) {
    const [, name] = /([\w.]+)\.wasm-base64\.mjs$/.exec(id) ?? []
    if (name === undefined) return
    const [, base64] = /wasm = "([^"]+)"/.exec(readFileSync(id, 'utf8')) ?? []
    if (base64 === undefined) throw new Error(`${id} has another form`)
    this.emitFile({ type: 'asset', fileName: `${name}.wasm`, source: Buffer.from(base64, 'base64') })
    return `import { readFileSync } from 'node:fs'
export const wasm = readFileSync(new URL('./${name}.wasm', import.meta.url))`
  },
}
const plugins = [compilerAsFile, bundledLicenses(fileURLToPath(new URL('.', import.meta.url)))]

/** Below it, npm would install a package with an install script. */
const bullmq = ['bullmq', 'cron-parser', 'luxon', 'msgpackr', 'node-abort-controller', 'semver', 'tslib']
const adapterUtils = ['@prisma/debug', '@prisma/driver-adapter-utils', 'postgres-array']

/**
 * Each entry is bundled for itself.
 * `bundled` are the packages that are copied into the program instead of being installed (ADR 61).
 */
const programs = {
  main: {
    file: 'src/main.ts',
    bundled: [
      '@prisma/adapter-pg',
      '@prisma/client',
      '@prisma/client-runtime-utils',
      ...adapterUtils,
      ...bullmq,
      /^@opentelemetry\//,
      // Used to read and merge prompts.
      '@cfworker/json-schema',
      'acorn',
      'diff',
      'entities',
      'yaml',
    ],
  },
  'database-thread': {
    file: '../embedded-postgres/src/thread/main.ts',
    bundled: ['pglite-prisma-adapter', ...adapterUtils],
  },
  'make-database-template': { file: 'scripts/make-database-template.ts', bundled: [] },
}

export default defineConfig([
  ...Object.entries(programs)
    .filter(([, { file }]) => existsSync(new URL(file, import.meta.url)))
    .map(([name, { file, bundled }]) => ({
      ...shared,
      plugins,
      name,
      entry: { [name]: file },
      deps: { alwaysBundle: [/^@stet\//, /^@opentelemetry\//], onlyBundle: bundled },
      // OpenTelemetry's CommonJS files would need four times the space, and fail because of their cycles.
      inputOptions: { resolve: { mainFields: ['module', 'main'] } },
      outputOptions: { chunkFileNames: '[name].mjs' },
    })),
  {
    ...shared,
    plugins,
    name: 'evaluation-thread',
    entry: { 'evaluation-thread': 'src/adapters/evaluation/thread-main.ts' },
    deps: { alwaysBundle: [/.*/], onlyBundle: false as const },
    outputOptions: { codeSplitting: false },
  },
])
