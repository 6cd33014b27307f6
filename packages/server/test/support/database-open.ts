import { type Database, type DatabaseClient, openDatabase } from '../../src/adapters/database/database.ts'
import type { Logger } from '../../src/shared/logger.ts'
import { packageRoot, type TestDatabase } from './test-database.ts'

/** A logger without output. */
export const silent: Logger = { error: () => {}, warn: () => {}, info: () => {}, debug: () => {} }

/** Opens a test database with its client as the only store. */
export function openTestDatabase(
  target: Pick<TestDatabase, 'databaseUrl' | 'dataDir'>,
  options: { diskFloorBytes?: number; log?: Logger; onlyReplica?: boolean; silenceMs?: number } = {},
): Promise<Database<DatabaseClient>> {
  return openDatabase({
    ...(target.databaseUrl !== undefined && { url: target.databaseUrl }),
    directory: `${target.dataDir}/db`,
    packageRoot,
    onlyReplica: false,
    // A machine that is busy with other tests is not an outage.
    silenceMs: 20_000,
    storesFor: (client) => client,
    log: silent,
    ...options,
  })
}
