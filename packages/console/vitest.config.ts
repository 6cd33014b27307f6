import { defineConfig } from 'vitest/config'

const postgres = process.env['STET_TEST_DATABASE_URL']
if (!postgres) console.warn('\n*** SKIPPED: the flows on PostgreSQL. Set STET_TEST_DATABASE_URL to run them. ***\n')

const flows = 'test/flows/**/*.test.ts'
/** What a person's browser does and its headless shell might do differently: cookies, the first visit, clipboard, keys. */
const onWholeBrowser = ['serving', 'sign-in', 'sign-in-link', 'first-run', 'editor'].map(
  (flow) => `test/flows/${flow}.test.ts`,
)

export default defineConfig({
  test: {
    pool: 'forks',
    // Most flows wait: for the next poll, for a retry, for typing to pause. Two files at once leave the machine idle enough.
    maxWorkers: 2,
    // Far above any real duration: a busy machine must not fail a test.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 30_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'embedded',
          include: ['test/**/*.test.ts', 'src/**/*.test.ts'],
          exclude: onWholeBrowser,
          env: { STET_TEST_DATABASE_URL: '' },
        },
      },
      ...(postgres ? [{ extends: true as const, test: { name: 'postgresql', include: [flows] } }] : []),
      {
        extends: true,
        test: {
          name: 'browser',
          include: onWholeBrowser,
          env: { STET_TEST_DATABASE_URL: '', STET_TEST_HEADLESS_SHELL: '' },
        },
      },
    ],
  },
})
