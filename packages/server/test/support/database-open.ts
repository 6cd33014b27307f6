import {
  type Database,
  type DatabaseClient,
  type DatabaseOptions,
  openDatabase,
} from '../../src/adapters/database/database.ts'
import type { Logger } from '../../src/shared/telemetry.ts'
import { packageRoot, type TestDatabase } from './test-database.ts'

export const silent: Logger = { error: () => {}, warn: () => {}, info: () => {}, debug: () => {} }

export function openTestDatabase(
  target: Pick<TestDatabase, 'databaseUrl' | 'dataDir'>,
  options: {
    backupDir?: string
    diskFloorBytes?: number
    log?: Logger
    sharing?: DatabaseOptions<unknown>['sharing']
    silenceMs?: number
  } = {},
): Promise<Database<DatabaseClient>> {
  return openDatabase({
    ...(target.databaseUrl !== undefined && { url: target.databaseUrl }),
    directory: `${target.dataDir}/db`,
    packageRoot,
    sharing: 'all',
    // Tolerates a test machine under load, which must not count as an outage.
    silenceMs: 20_000,
    storesFor: (client) => client,
    log: silent,
    ...options,
  })
}
