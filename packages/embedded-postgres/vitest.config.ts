import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    // Each file has a process of its own, which ends before it could gain by optimized WebAssembly.
    pool: 'forks',
    execArgv: ['--expose-gc', '--liftoff-only'],
    // More than two databases at once only wait for each other on a small machine.
    maxWorkers: 2,
    // These limits end what hangs; no test fails because its machine is busy.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 120_000 } },
  },
})
