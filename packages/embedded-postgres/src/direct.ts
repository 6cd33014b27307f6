/** Opens databases in the calling thread. Importing this module loads PGlite. Commands and builds use it. */
export { backupDatabase, restoreDatabase } from './backup/backup.ts'
export type { CountedRows } from './backup/count-rows.ts'
export { makeDatabaseTemplate } from './directory/database-template.ts'
