/** Opens databases in the calling thread, which loads PGlite. Commands and builds use this module. */
export { backupDatabase, restoreDatabase } from './backup/backup.ts'
export { makeDatabaseTemplate } from './directory/database-template.ts'
