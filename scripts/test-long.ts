/** `pnpm test:long`: all tests with the counts of a release (hours), which `packages/server/test/support/counts.ts` names. */
import { spawnSync } from 'node:child_process'

const { status } = spawnSync('pnpm', ['test'], {
  stdio: 'inherit',
  // Package managers are scripts on Windows, which only a shell starts.
  shell: process.platform === 'win32',
  env: { ...process.env, STET_TEST_LONG: '1' },
})
process.exitCode = status ?? 1
