/** Does the first start of an embedded database, unless its time is over before. Started by first-start.test.ts. */
import { prepareDirectory } from '../../src/directory/first-start.ts'
import { folderOf } from './database.ts'

const [directory = '', template = '', killAfterMs = ''] = process.argv.slice(2)
// By itself, and counted from here: a test that has to wait for a core would kill too late.
setTimeout(() => process.kill(process.pid, 'SIGKILL'), Number(killAfterMs)).unref()
await prepareDirectory(folderOf(directory), template)
