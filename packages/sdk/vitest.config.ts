import { defineConfig } from 'vitest/config'

// The client reads these variables if an option is missing, and would do so in tests.
const variables = [
  'STET_API_KEY',
  'STET_BASE_URL',
  'STET_PROJECT_ID',
  'STET_LOG',
  'LATITUDE_API_KEY',
  'GATEWAY_HOSTNAME',
]

export default defineConfig({
  test: {
    // Files share two processes, so that the client is loaded once in each.
    isolate: false,
    // Vitest reserves one of two cores for itself and would run one file at a time.
    maxWorkers: 2,
    env: Object.fromEntries(variables.map((name) => [name, ''])),
    // Far above any real duration, so that a busy or suspended machine does not fail a test.
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
})
