import { defineConfig } from 'tsdown'

export default defineConfig({
  entry: { main: 'src/main.ts' },
  format: 'esm',
  platform: 'node',
  target: 'node20',
  dts: false,
  clean: true,
  sourcemap: false,
  // The template engine comes along, in a chunk of its own that only compiling commands load.
  minify: true,
  deps: { onlyBundle: ['promptl-ai', 'acorn', 'zod', 'fast-sha256', 'picocolors'] },
  outputOptions: { chunkFileNames: '[name]-[hash].mjs' },
})
