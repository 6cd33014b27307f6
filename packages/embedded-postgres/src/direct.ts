/** Work on a database in the calling thread, which loads PGlite: for commands and builds. */
export { backupDatabase, restoreDatabase } from './backup/backup.ts'
export { makeDatabaseTemplate } from './directory/database-template.ts'
