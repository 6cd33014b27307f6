import { transform } from 'esbuild'
import { defineConfig } from 'tsdown'
import main, { writtenTable } from './tsdown.config.ts'

const ENTRIES = ['latitude', 'render', 'ai', 'testing', 'browser']

/**
 * Builds the entries besides the main one. They import the built entries instead of copying code. An application
 * therefore has one `RunStream`, one `ApiError` and one `PromptRegistry` across all entries.
 */
export default defineConfig({
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
          const [found, entry = 'index'] = /^\.\.\/(?:(\w+)\/)?index\.ts$/.exec(asked) ?? []
          const extension = format === 'cjs' || cjsDts ? 'cjs' : 'mjs'
          return found ? { id: `./${entry}.${extension}`, external: 'relative' as const } : undefined
        },
      },
    }
    // Two copies of the engine, with the parsers of expressions and YAML, are half of the package. The other chunks keep
    // their names, which appear in stack traces.
    const minified = {
      name: 'minified-entries',
      async generateBundle(_options: unknown, bundle: Record<string, { name?: string | undefined; code?: string }>) {
        for (const [file, chunk] of Object.entries(bundle)) {
          if (chunk.code === undefined || !/\.[cm]js$/.test(file)) continue
          const how = chunk.name === 'engine' ? { minify: true } : { minifyWhitespace: true }
          chunk.code = (await transform(chunk.code, { ...how, format: format === 'cjs' ? 'cjs' : 'esm' })).code
        }
      },
    }
    return { ...options, plugins: [writtenTable, outside, minified, options.plugins] }
  },
})
