/** Opens a database in the calling thread, which loads PGlite. Used by commands and builds. */
export { backupDatabase, restoreDatabase } from './backup/backup.ts'
export { makeDatabaseTemplate } from './directory/database-template.ts'
