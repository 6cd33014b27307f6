import { defineConfig } from 'vitest/config'

const isWhole = process.env['STET_TEST_LONG'] === '1' || process.env['STET_TEST_WHOLE'] === '1'
/** The tests that `pnpm check` adds to `pnpm test` (ADR 70): archives of whole projects, with a server of their own. */
const onlyInCheck = isWhole ? [] : ['test/project-archive.test.ts']

export default defineConfig({
  test: {
    // Files share two processes: to load the command line for each of them took 0.8 s of processor time.
    pool: 'forks',
    isolate: false,
    // More than two at once only block each other on a small machine.
    maxWorkers: 2,
    include: ['test/**/*.test.ts'],
    // Files that have a run of their own (scripts/test.ts).
    exclude: [...onlyInCheck, ...(process.env['STET_TEST_WITHOUT']?.split(',').filter(Boolean) ?? [])],
    globalSetup: 'test/support/global-setup.ts',
    // Commands run in this process and read git's history, without the user's settings.
    env: { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' },
    // Far above any real duration: a busy machine must not fail a test.
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
})
