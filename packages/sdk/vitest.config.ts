import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    // Vitest would leave one of two cores to itself, and take one file after the other.
    maxWorkers: 2,
    // the longest tests take a second alone; the rest is room for a machine that is busy
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
})
