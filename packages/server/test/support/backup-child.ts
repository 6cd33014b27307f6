/**
 * Backs up or restores a database. Kills itself once the folder `watched` contains an entry whose name starts with
 * `beginning`. Started by backup.test.ts.
 */
import { readdirSync } from 'node:fs'
import { backupEmbedded, restoreEmbedded } from '../../src/adapters/database/embedded/embedded-files.ts'

const [command, directory = '', file = '', watched = '', beginning = ''] = process.argv.slice(2)
setInterval(() => {
  if (readdirSync(watched).some((name) => name.startsWith(beginning))) process.kill(process.pid, 'SIGKILL')
}, 1)
if (command === 'backup') await backupEmbedded(directory, file)
else await restoreEmbedded(directory, file)
process.exit(0)
