/** Runs the database in its own thread. The importing thread does not load PGlite. */
export { startSnapshots } from './backup/snapshots.ts'
export type { DatabaseFolder } from './directory/database-folder.ts'
export { EmbeddedPostgresError } from './failure.ts'
export { openEmbeddedPostgres } from './open-embedded.ts'
