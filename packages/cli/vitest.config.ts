import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    pool: 'forks',
    // Each end-to-end file has a server. More than two at once only wait for each other on a small machine.
    maxWorkers: 2,
    include: ['test/**/*.test.ts'],
    // Far above any real duration, so that a busy machine does not fail a test.
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
})
