import { existsSync } from 'node:fs'
import { defineConfig } from 'vitest/config'

const postgres = process.env['STET_TEST_DATABASE_URL']
const redis = process.env['STET_TEST_REDIS_URL']
const isLong = process.env['STET_TEST_LONG'] === '1'
const isWhole = isLong || process.env['STET_TEST_WHOLE'] === '1'
if (isLong && !(postgres && redis)) {
  throw new Error(
    'STET_TEST_LONG=1 needs a PostgreSQL server in STET_TEST_DATABASE_URL and a Redis in STET_TEST_REDIS_URL',
  )
}

const filesOf = (names: readonly string[]) => names.map((name) => `test/${name}.test.ts`)

/**
 * The differences between the embedded database and a server: locks, transactions of concurrent requests, texts in
 * pieces, and processes that share a database. `pnpm check` runs it on both.
 */
const onBothDatabases = filesOf([
  'http/body', // texts that a database returns in several pieces
  'http/deletion', // batches, deletions against concurrent runs, and an experiment whose rows are edited and erased
  'http/idempotency', // claims, and the work in their transaction
  'http/workspace-full', // sizes of rows, and ranges of pages
  'process/commands', // commands beside a server that runs on PostgreSQL
  'process/replica-lock', // the advisory lock
  'process/upgrade', // recorded data of earlier releases
  'runs/idempotency', // two processes on one database
  'runs/json', // texts that a database cannot store; statement counts
  'runs/limits', // ends that are stored after an outage
  'runs/process-kill', // promise 1 on each database: runs, the queue, claims and a deletion
  'runs/recovery', // orphaned runs, and the batch of writes
  'versions/parallel', // promise 3 with transactions that really overlap
  'versions/publish', // numbers, and one winner for each draft
])

/**
 * SQL of its own, which is the same on each database. `pnpm check` runs it where it costs less, on PostgreSQL, and `pnpm
 * test` and `pnpm test:long` on the embedded database.
 */
const onPostgres = filesOf([
  'experiments/experiments', // items and their runs, scores and figures in one statement: http/deletion has one on both
  'experiments/gates', // scores that are dropped and given again
  'http/declared-errors/declared-errors', // every statement of every route: http/fuzz calls each on the embedded one
  'http/check', // the search for referring prompts; statement counts
  'http/conversation-list', // cursors and ranges over times
  'http/examples', // limits and names that are checked in the transaction
  'http/external-logs', // a transaction of one statement
  'http/keys', // one winner among concurrent rotations
  'http/retention', // intervals by the clock of the database
  'http/run-lists', // keys that a page of many runs reads
  'http/sessions', // codes that concurrent requests use once
  'http/stats', // groups and histograms over times
  'http/version-records', // counted changes; the order of paths; statement counts
  'runs/caller-requests', // rows that start with messages
  'runs/chat', // the order of keys in JSON columns
  'runs/ended-runs', // results and events that are read from rows
  'runs/keep-lease', // leases, which processes that share a database need
  'versions/moves', // uuids that one statement exchanges
  'versions/overlay', // drafts over intervals of versions
  'versions/push-and-revert', // intervals that a forced edit splits
])
for (const file of [...onBothDatabases, ...onPostgres])
  if (!existsSync(new URL(file, import.meta.url))) throw new Error(`There is no ${file}`)

/**
 * The rest checks forms on the wire, which are the same on each database: only `pnpm test:long` runs it on PostgreSQL.
 */
const onEveryDatabase = [
  ...['experiments', 'http', 'versions', 'runs', 'process'].map((folder) => `test/${folder}/**/*.test.ts`),
  'test/clients/sdk/stet-sdk.test.ts',
]
/** Inputs are refused before they come to a database; limits of keys and addresses are counted in memory. */
const onlyBefore = ['fuzz', 'bad-keys', 'rate-limit'].map((name) => `test/http/${name}.test.ts`)
/** Leases are for a database that several processes share: where there is one, the embedded one need not play it. */
const onlyShared = filesOf(['runs/keep-lease'])

/** The clients whose requests may reach any server. The other suites of clients are about one client on one server. */
const publishedClients = [
  ...['latitude-4', 'latitude-5', 'latitude-5.2-5.7', 'python', 'cli', 'mcp'].map(
    (name) => `test/clients/${name}/*.test.ts`,
  ),
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

/** For processes of few databases, which end before they could gain by optimised WebAssembly: `support/child-program.ts`. */
const shortLived = ['--liftoff-only']

/** Clients that are installed outside of the workspace. */
const onlyLong = ['test/clients/mcp/**', 'test/clients/openai/**']

/** Server processes: killed ones, and what an operator does with them. `process/start` has the start of one. */
const processes = filesOf([
  'runs/process-kill',
  'process/commands',
  'process/drain',
  'process/outgoing',
  'process/replica-lock',
  'process/traces',
])

/**
 * The tests that `pnpm check` adds to `pnpm test` (ADR 70), with `processes`: published clients, measured memory, and the
 * database's files. The other tests run the same code.
 */
const onlyInCheck = [
  // Published clients keep their settings in globals: each file has a process of its own.
  {
    extends: true as const,
    test: {
      name: 'clients',
      include: ['test/clients/**/*.test.ts'],
      exclude: isLong ? [] : onlyLong,
      env: { STET_TEST_DATABASE_URL: '' },
      isolate: true,
      execArgv: shortLived,
    },
  },
  // Measures memory and handles of a server process: other tests would disturb it.
  {
    extends: true as const,
    test: {
      name: 'serial',
      include: ['test/serial/**/*.test.ts'],
      env: { STET_TEST_DATABASE_URL: '' },
      fileParallelism: false,
      sequence: { groupOrder: 1 },
    },
  },
  // These open both kinds of database themselves.
  {
    extends: true as const,
    test: { name: 'database', include: ['test/database/**/*.test.ts'], execArgv: shortLived },
  },
]

/** Projects that have a run of their own (scripts/test.ts). */
const elsewhere = process.env['STET_TEST_WITHOUT']?.split(',') ?? []

export default defineConfig({
  test: {
    // Processes and not threads: the embedded database runs inside them. Files share them, so that the server is loaded
    // once for many of them: what a file opens or changes it closes and puts back.
    pool: 'forks',
    isolate: false,
    // Each file may hold a database: more than two at once only wait for each other on a small machine.
    maxWorkers: 2,
    // Time limits for hanging tests. A slow, busy or suspended machine does not fail a test.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 120_000 } },
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
            ...(postgres ? (isLong ? onlyShared : onPostgres) : []),
            ...(isWhole ? [] : processes),
          ],
          env: { STET_TEST_DATABASE_URL: '' },
        },
      },
      ...(isWhole ? onlyInCheck : []).filter(({ test }) => !elsewhere.includes(test.name)),
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
              test: {
                name: 'postgres',
                include: isLong ? onEveryDatabase : [...onBothDatabases, ...onPostgres],
                exclude: onlyBefore,
              },
            },
          ]
        : []),
      // Several server processes, whose time limits are part of what is tested: one file at a time. `pnpm check` runs
      // this project beside the others (scripts/test.ts).
      ...(postgres && redis && !elsewhere.includes('scaled')
        ? [
            {
              extends: true as const,
              test: {
                name: 'scaled',
                include: ['test/scaled/**/*.test.ts'],
                fileParallelism: false,
                sequence: { groupOrder: 2 },
              },
            },
          ]
        : []),
      // The published clients against three servers behind a load balancer.
      ...(isLong
        ? [
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
