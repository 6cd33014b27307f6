import { defineConfig } from 'tsdown'

export default defineConfig({
  entry: { main: 'src/main.ts' },
  format: 'esm',
  platform: 'node',
  target: 'node20',
  dts: false,
  clean: true,
  sourcemap: false,
  // The template engine is bundled, in a separate chunk that only compiling commands load. Its parser and its YAML
  // reader, most of its size, stay dependencies (acorn, yaml).
  minify: true,
  deps: { onlyBundle: ['promptl-ai', 'zod', 'fast-sha256', 'diff', 'node-diff3', 'picomatch', '@handlebars/parser'] },
  outputOptions: { chunkFileNames: '[name]-[hash].mjs' },
})
