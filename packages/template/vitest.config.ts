import { defineConfig } from 'vitest/config'

// Far above any real duration: a busy or suspended machine must not fail a test.
export default defineConfig({ test: { testTimeout: 300_000, hookTimeout: 300_000 } })
