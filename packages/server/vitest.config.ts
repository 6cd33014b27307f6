import { defineConfig } from 'vitest/config'

const postgres = process.env['STET_TEST_DATABASE_URL']
// What must hold on both kinds of database. The clients of the discontinued service see none: their
// requests are those of the other suites.
const onEveryDatabase = [
  ...['http', 'versions', 'runs', 'ports', 'process'].map((folder) => `test/${folder}/**/*.test.ts`),
  'test/clients/sdk/stet-sdk.test.ts',
]

/** Leases are for a database that several processes share: where there is one, the embedded one need not play it. */
const onlyShared = ['test/runs/keep-lease.test.ts']
/**
 * Inputs are refused before they come to a database, or by rules that the other tests hold on both; limits of keys and
 * addresses are counted in memory.
 */
const onlyBefore = ['fuzz', 'console-fuzz', 'bad-keys', 'rate-limit'].map((name) => `test/http/${name}.test.ts`)

const redis = process.env['STET_TEST_REDIS_URL']
/** Both kinds of database, but one Redis: these need not run twice. */
const onlyRedis = ['test/ports/redis-*.test.ts']

/** The clients whose requests may reach any server. The other suites of clients are about one client on one server. */
const publishedClients = [
  ...['latitude-4', 'latitude-5', 'latitude-5.2-5.7', 'python', 'cli'].map((name) => `test/clients/${name}/*.test.ts`),
  'test/clients/latitude-entry.test.ts',
  'test/clients/sdk/stet-sdk.test.ts',
]

if (!postgres) {
  console.warn('\n*** SKIPPED: the suites on PostgreSQL. Set STET_TEST_DATABASE_URL to run them. ***\n')
}
if (!postgres || !redis) {
  console.warn(
    '\n*** SKIPPED: the suites with several servers. Set STET_TEST_DATABASE_URL and STET_TEST_REDIS_URL. ***\n',
  )
}

if (!redis) {
  console.warn('\n*** SKIPPED: the suites on Redis. Set STET_TEST_REDIS_URL to run them. ***\n')
}

/** For processes of one file each, which end before they could gain by optimised WebAssembly: see `support/child-program.ts`. */
const shortLived = ['--liftoff-only']

export default defineConfig({
  test: {
    // Processes and not threads: the embedded database runs inside them. Files share them, so that the server is loaded once
    // for many of them: what a file opens or changes it closes and puts back.
    pool: 'forks',
    isolate: false,
    // Each file may hold a database: more than two at once only wait for each other on a small machine.
    maxWorkers: 2,
    // Time limits for hanging tests. A slow, busy or suspended machine does not fail a test.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'embedded',
          include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: [
            'test/database/**',
            'test/serial/**',
            'test/clients/**',
            'test/redis/**',
            'test/scaled/**',
            ...(postgres ? onlyShared : []),
          ],
          env: { STET_TEST_DATABASE_URL: '' },
        },
      },
      // Published clients keep their settings in globals: each file has a process of its own.
      {
        extends: true,
        test: {
          name: 'clients',
          include: ['test/clients/**/*.test.ts'],
          env: { STET_TEST_DATABASE_URL: '' },
          isolate: true,
          execArgv: shortLived,
        },
      },
      // Measures memory and handles of a server process: other tests would disturb it.
      {
        extends: true,
        test: {
          name: 'serial',
          include: ['test/serial/**/*.test.ts'],
          env: { STET_TEST_DATABASE_URL: '' },
          isolate: true,
          fileParallelism: false,
          sequence: { groupOrder: 1 },
        },
      },
      // These open both kinds of database themselves.
      {
        extends: true,
        test: { name: 'database', include: ['test/database/**/*.test.ts'], isolate: true, execArgv: shortLived },
      },
      ...(redis
        ? [
            {
              extends: true as const,
              test: { name: 'redis', include: ['test/redis/**/*.test.ts'] },
            },
          ]
        : []),
      ...(postgres
        ? [
            {
              extends: true as const,
              test: { name: 'postgres', include: onEveryDatabase, exclude: [...onlyBefore, ...onlyRedis] },
            },
          ]
        : []),
      // Several server processes, whose time limits are part of what is tested: one file at a time, after the others.
      ...(postgres && redis
        ? [
            {
              extends: true as const,
              test: {
                name: 'scaled',
                include: ['test/scaled/**/*.test.ts'],
                isolate: true,
                fileParallelism: false,
                sequence: { groupOrder: 2 },
              },
            },
            // The published clients against three servers behind a load balancer.
            {
              extends: true as const,
              test: {
                name: 'scaled-clients',
                include: publishedClients,
                env: { STET_TEST_SERVERS: '3' },
                isolate: true,
                execArgv: shortLived,
              },
            },
          ]
        : []),
    ],
  },
})
