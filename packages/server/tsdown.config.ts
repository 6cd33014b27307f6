import { existsSync } from 'node:fs'
import { defineConfig } from 'tsdown'

const shared = { format: 'esm', platform: 'node', target: 'node20', dts: false, clean: false, outDir: 'dist' } as const

/** Each entry is bundled for itself: no chunk is shared with the template worker, which may read its own file only. */
const programs = {
  main: 'src/main.ts',
  'database-thread': '../embedded-postgres/src/thread/main.ts',
  'make-database-template': 'scripts/make-database-template.ts',
}

export default defineConfig([
  ...Object.entries(programs)
    .filter(([, file]) => existsSync(new URL(file, import.meta.url)))
    .map(([name, file]) => ({
      ...shared,
      name,
      entry: { [name]: file },
      deps: { alwaysBundle: [/^@stet\//, /^@opentelemetry\//], onlyBundle: false as const },
      // OpenTelemetry's CommonJS files would need four times the space, and fail because of their cycles.
      inputOptions: { resolve: { mainFields: ['module', 'main'] } },
      outputOptions: { chunkFileNames: '[name].mjs' },
    })),
  {
    ...shared,
    name: 'template-worker',
    entry: { 'template-worker': 'src/adapters/template-workers/worker/main.ts' },
    deps: { alwaysBundle: [/.*/], onlyBundle: false as const },
    outputOptions: { codeSplitting: false },
  },
])
