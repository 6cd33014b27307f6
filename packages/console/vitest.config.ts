import { defineConfig } from 'vitest/config'
import { chromium, wholeChromium } from '../sdk/test/browser/chromium.ts'

const isLong = process.env['STET_TEST_LONG'] === '1'
const isWhole = isLong || process.env['STET_TEST_WHOLE'] === '1'
const flows = 'test/flows/**/*.test.ts'
/** Flows where a headless shell may differ from a person's browser: cookies, the first visit, clipboard, keys. */
const onWholeBrowser = ['serving', 'sign-in', 'first-run', 'editor'].map((flow) => `test/flows/${flow}.test.ts`)

/**
 * The tests that `pnpm check` adds to `pnpm test` (ADR 70): flows that wait or open many pages, of which the other
 * flows show the common path.
 */
const onlyInCheck = isWhole
  ? []
  : [
      ...['a11y', 'conflict', 'draft-menu', 'hostile', 'keyboard', 'left-texts', 'long-names', 'offline', 'panes'],
      ...['reconnect', 'settings', 'sign-out', 'tree', 'upgrade'],
    ].map((flow) => `test/flows/${flow}.test.ts`)

/** Files that have a run of their own (scripts/test.ts). */
const elsewhere = process.env['STET_TEST_WITHOUT']?.split(',').filter(Boolean) ?? []

if (isLong && !process.env['STET_TEST_DATABASE_URL'])
  throw new Error('The long tests of the console need PostgreSQL: set STET_TEST_DATABASE_URL')
if (isLong && !wholeChromium)
  throw new Error('The long tests of the console need a whole Chromium: install it, or set STET_TEST_CHROMIUM')
if (!chromium)
  console.warn("\n*** SKIPPED: the console's flows. Install chromium-headless-shell or chromium to run them. ***\n")
else if (chromium === wholeChromium)
  console.warn(
    "\n*** SLOW: without chromium-headless-shell, the console's flows take three times the processor time. ***\n",
  )

export default defineConfig({
  test: {
    // Files share a worker process with its browser and its server, which cost more than most files.
    pool: 'forks',
    isolate: false,
    globalSetup: 'test/support/teardown.ts',
    // Most flows wait: for the next poll, for a retry, for typing to pause. Two files at once leave the machine idle
    // enough.
    maxWorkers: 2,
    // They only end what hangs: a busy machine must not fail a test.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { interval: 200, timeout: 120_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'embedded',
          include: ['test/**/*.test.ts', 'src/**/*.test.ts'],
          exclude: [...(chromium ? onlyInCheck : [flows]), ...elsewhere],
          env: { STET_TEST_DATABASE_URL: '' },
        },
      },
      ...(isLong
        ? [
            { extends: true as const, test: { name: 'postgresql', include: [flows] } },
            {
              extends: true as const,
              test: {
                name: 'browser',
                include: onWholeBrowser,
                env: { STET_TEST_DATABASE_URL: '', STET_TEST_HEADLESS_SHELL: '' },
              },
            },
          ]
        : []),
    ],
  },
})
