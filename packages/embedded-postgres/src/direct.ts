/** Opens a database in the calling thread, which loads PGlite. For commands and builds. */
export { backupDatabase, restoreDatabase } from './backup/backup.ts'
export { makeDatabaseTemplate } from './directory/database-template.ts'
