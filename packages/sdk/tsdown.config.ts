import { defineConfig, type UserConfig } from 'tsdown'

const ENTRIES = ['latitude', 'render', 'ai', 'testing', 'browser']

const shared = {
  format: ['esm', 'cjs'],
  platform: 'neutral',
  target: 'es2022',
  dts: { tsconfig: './tsconfig.src.json' },
  outExtensions: ({ format }) => (format === 'cjs' ? { js: '.cjs', dts: '.d.cts' } : { js: '.mjs', dts: '.d.mts' }),
  sourcemap: false,
} satisfies UserConfig

/** The main entry. */
export const main: UserConfig = { ...shared, entry: ['src/index.ts'], clean: true }

/**
 * The others load the built entries beside them instead of copies of their parts: an application has one `RunStream`, one
 * `ApiError` and one `PromptRegistry`, whichever entries it uses.
 */
export const further: UserConfig = {
  ...shared,
  entry: Object.fromEntries(ENTRIES.map((name) => [name, `src/${name}/index.ts`])),
  clean: false,
  // not `plugins`, which the build of the CommonJS declarations leaves out
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
    return { ...options, plugins: [outside, options.plugins] }
  },
}

export default defineConfig([main, further])
