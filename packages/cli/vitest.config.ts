import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    pool: 'forks',
    // More than two at once only block each other on a small machine.
    maxWorkers: 2,
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/support/global-setup.ts',
    // Commands run in this process and read git's history, without the user's settings.
    env: { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' },
    // Far above any real duration: a busy machine must not fail a test.
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
})
