import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    // Files share two processes, so that the engine is loaded once in each.
    isolate: false,
    // Vitest reserves one of two cores for itself and would run one file at a time.
    maxWorkers: 2,
    // Far above any real duration: a busy or suspended machine must not fail a test.
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
})
