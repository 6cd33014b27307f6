/** Kills itself once a file or folder with a given name exists. Started by backup.test.ts. */
import { readdirSync } from 'node:fs'
import { backupEmbedded, restoreEmbedded } from '../../src/adapters/database/embedded/embedded-files.ts'

const [command, directory = '', file = '', watched = '', beginning = ''] = process.argv.slice(2)
setInterval(() => {
  if (readdirSync(watched).some((name) => name.startsWith(beginning))) process.kill(process.pid, 'SIGKILL')
}, 1)
if (command === 'backup') await backupEmbedded(directory, file)
else await restoreEmbedded(directory, file)
process.exit(0)
