import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    pool: 'forks',
    // Each end-to-end file starts a server. More than two at once only block each other on a small machine.
    maxWorkers: 2,
    include: ['test/**/*.test.ts'],
    // Far above any real duration: a busy machine must not fail a test.
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
})
