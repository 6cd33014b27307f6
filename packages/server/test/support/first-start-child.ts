/** Does the first start of an embedded database. Started, and killed, by process-kill.test.ts. */
import { prepareDirectory } from '../../src/adapters/database/embedded/first-start.ts'

const [directory = '', template = ''] = process.argv.slice(2)
process.send?.('begun')
await prepareDirectory(directory, template)
process.disconnect()
