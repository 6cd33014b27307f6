import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'tsdown'
import { bundledLicenses } from '../../scripts/build/bundled-licenses.ts'
import { laterTable } from './src/later-table.ts'
import { operationTable } from './src/operation-table.ts'

const DISPOSABLE = '/// <reference lib="esnext.disposable" />'

const sharedRegistry = {
  name: 'shared-registry',
  resolveId: {
    order: 'pre' as const,
    handler: (asked: string, importer: string | undefined) =>
      importer !== undefined && /^\.\.?\/prompt-registry\.ts$/.test(asked)
        ? { id: './prompt-registry.cjs', external: 'relative' as const }
        : undefined,
  },
}

/** Replaces the computed tables by their texts, so that no package contains the fields that only the server reads. */
export const writtenTable = {
  name: 'written-table',
  transform: {
    order: 'pre' as const,
    filter: { id: /sdk\/src\/(operation|later)-table\.ts$/ },
    handler: (_code: string, id: string) =>
      id.endsWith('/later-table.ts')
        ? `export const laterTable = ${JSON.stringify(laterTable)}`
        : `export const operationTable = ${JSON.stringify(operationTable)}`,
  },
}

/** One copy of the declarations serves both formats. They are the largest part of the package without the engine. */
function shareDeclarations({ options: { outDir, format } }: { options: { outDir: string; format: string } }): void {
  for (const name of readdirSync(outDir).filter((file) => /\.d\.[cm]ts$/.test(file))) {
    const shared = `${DISPOSABLE}\nexport * from './${name.replace('.d.mts', '.cjs')}'\n`
    const isShared = format === 'es' && name.endsWith('.d.mts')
    const text = isShared ? shared : readFileSync(join(outDir, name), 'utf8')
    // The build adds marks of regions, and the line of a map even to declarations without one.
    const unmarked = text.replace(/^\/\/#.*\n?/gm, '')
    // No blanks before a line, and no empty lines: the package must stay small.
    const dense = unmarked.replace(/^ +/gm, '').replace(/\n+/g, '\n')
    writeFileSync(join(outDir, name), dense)
  }
  // The code has marks of regions too. Their lines stay, because the maps count them.
  for (const name of readdirSync(outDir).filter((file) => /\.[cm]js$/.test(file))) {
    const text = readFileSync(join(outDir, name), 'utf8')
    writeFileSync(join(outDir, name), text.replace(/^\/\/#(?:end)?region.*$/gm, ''))
  }
}

export default defineConfig({
  entry: ['src/index.ts', 'src/prompt-registry.ts'],
  format: ['esm', 'cjs'],
  platform: 'neutral',
  target: 'es2022',
  dts: { tsconfig: './tsconfig.src.json', sourcemap: false },
  outExtensions: ({ format }) => (format === 'cjs' ? { js: '.cjs', dts: '.d.cts' } : { js: '.mjs', dts: '.d.mts' }),
  // The declarations reference the library that `await using` needs.
  banner: { dts: DISPOSABLE },
  clean: true,
  // Both declaration formats share one registry, so that augmenting it through `import` also augments it through
  // `require`. The package that contains a declaration file decides its format, not the importer.
  inputOptions: (options) => ({ ...options, plugins: [sharedRegistry, writtenTable, options.plugins] }),
  // The maps have no sources: a stack trace needs only files and lines, and the package must stay small.
  sourcemap: true,
  outputOptions: (options, _format, { cjsDts }) => ({
    ...options,
    sourcemapExcludeSources: true,
    // The declarations have the documentation.
    ...(!cjsDts && { comments: { jsdoc: false, annotation: true, legal: true } }),
  }),
  hooks: { 'build:done': shareDeclarations },
  plugins: [bundledLicenses(fileURLToPath(new URL('.', import.meta.url)))],
})
