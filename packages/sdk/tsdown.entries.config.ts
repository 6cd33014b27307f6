import { type TransformOptions, transform } from 'esbuild'
import { defineConfig } from 'tsdown'
import main, { writtenTable } from './tsdown.config.ts'

const ENTRIES = ['latitude', 'render', 'ai', 'testing', 'browser', 'eval']

const minifiedBy = (how: TransformOptions) => ({
  name: 'minified',
  async generateBundle(_options: unknown, bundle: Record<string, { code?: string }>) {
    for (const [file, chunk] of Object.entries(bundle)) {
      if (chunk.code === undefined || !/\.[cm]js$/.test(file)) continue
      chunk.code = (await transform(chunk.code, { ...how, format: file.endsWith('.cjs') ? 'cjs' : 'esm' })).code
    }
  },
})

/**
 * The prompt engine, with the parsers of expressions and YAML, is the largest part of the package. Both formats import
 * it, and so does `@stet/cli`. Its two entries share a chunk, so that rendering loads no checks.
 */
const engine = defineConfig({
  ...main,
  entry: { 'prompt-engine': 'src/render/prompt-engine.ts', 'prompt-scan': 'src/render/prompt-scan.ts' },
  format: ['cjs'],
  dts: false,
  clean: false,
  sourcemap: false,
  inputOptions: (options) => ({
    ...options,
    // The build of CommonJS would take what is made for Node, and pages render too.
    platform: 'browser',
    resolve: { ...options.resolve, conditionNames: ['import', 'default'] },
    plugins: [minifiedBy({ minify: true }), options.plugins],
  }),
})

/**
 * Builds the entries besides the main one. They import the built entries instead of copying code. An application
 * therefore has one `RunStream`, one `ApiError` and one `PromptRegistry` across all entries.
 */
const entries = defineConfig({
  ...main,
  entry: Object.fromEntries(ENTRIES.map((name) => [name, `src/${name}/index.ts`])),
  // The main entry is built first, into the same folder.
  clean: false,
  // Most of this code comes from other packages, such as the template engine, and its maps would be large.
  sourcemap: false,
  // The build of the CommonJS declarations ignores `plugins`.
  inputOptions: (options, format, { cjsDts }) => {
    const outside = {
      name: 'entries-stay-apart',
      resolveId: {
        order: 'pre' as const,
        handler(asked: string) {
          if (asked === './prompt-engine.ts') return { id: './prompt-engine.cjs', external: 'relative' as const }
          const [found, entry = 'index'] = /^\.\.\/(?:(\w+)\/)?index\.ts$/.exec(asked) ?? []
          const extension = format === 'cjs' || cjsDts ? 'cjs' : 'mjs'
          return found ? { id: `./${entry}.${extension}`, external: 'relative' as const } : undefined
        },
      },
    }
    // Names stay, because they appear in stack traces.
    const minified = minifiedBy({ minifyWhitespace: true })
    return { ...options, plugins: [writtenTable, outside, minified, options.plugins] }
  },
})

export default [engine, entries]
