/** Runs the first start of an embedded database, and kills itself after a delay. Started by first-start.test.ts. */
import { prepareDirectory } from '../../src/directory/first-start.ts'
import { folderOf } from './database.ts'

const [directory = '', template = '', killAfterMs = ''] = process.argv.slice(2)
// The process kills itself, because a test that waits for a core would kill it too late.
setTimeout(() => process.kill(process.pid, 'SIGKILL'), Number(killAfterMs)).unref()
await prepareDirectory(folderOf(directory), template)
