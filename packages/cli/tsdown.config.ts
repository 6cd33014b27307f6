import { fileURLToPath } from 'node:url'
import { defineConfig } from 'tsdown'
import { bundledLicenses } from '../../scripts/release/bundled-licenses.ts'

export default defineConfig({
  entry: { main: 'src/main.ts' },
  format: 'esm',
  platform: 'node',
  target: 'node20',
  dts: false,
  clean: true,
  sourcemap: false,
  // The template engine is bundled into a separate chunk that only compiling commands load. Most of its size is its
  // parser and its YAML reader (acorn, yaml), which stay dependencies.
  minify: true,
  plugins: [bundledLicenses(fileURLToPath(new URL('.', import.meta.url)))],
  deps: {
    onlyBundle: [
      'promptl-ai',
      '@cfworker/json-schema',
      'entities',
      'zod',
      'fast-sha256',
      'diff',
      'node-diff3',
      'picomatch',
      '@handlebars/parser',
    ],
  },
  outputOptions: { chunkFileNames: '[name]-[hash].mjs' },
})
