import { defineConfig } from 'vitest/config'

// Far above what anything takes: a busy machine, or one that stands still for a while, makes no failure.
export default defineConfig({ test: { testTimeout: 300_000, hookTimeout: 300_000 } })
