import { defineConfig } from 'vitest/config'

// the longest tests take a second alone; the rest is room for a machine that is busy
export default defineConfig({ test: { testTimeout: 30_000, hookTimeout: 60_000 } })
