/** `pnpm test:long`: runs all tests for hours, with the release counts of `packages/server/test/support/counts.ts`. */
import { spawnSync } from 'node:child_process'

const { status } = spawnSync('pnpm', ['test'], {
  stdio: 'inherit',
  // On Windows, package managers are scripts, which need a shell.
  shell: process.platform === 'win32',
  env: { ...process.env, STET_TEST_LONG: '1' },
})
process.exitCode = status ?? 1
