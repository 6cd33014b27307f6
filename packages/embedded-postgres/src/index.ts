/** Runs the database in its own thread. The importing thread does not load PGlite. */
export { newestSnapshot, startSnapshots } from './backup/snapshots.ts'
export type { DatabaseFolder } from './directory/database-folder.ts'
export { DamagedDatabaseError, EmbeddedPostgresError } from './failure.ts'
export { type EmbeddedPostgresOptions, openEmbeddedPostgres } from './open-embedded.ts'
