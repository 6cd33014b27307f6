/** The program of the database thread, on a disk whose syncs begin to fail. Started by failing-disk-child.ts. */
import { parentPort } from 'node:worker_threads'

// A thread does not inherit the loader of child-program.ts.
if (Number(process.versions.node.split('.')[0]) < 24) (await import('tsx/esm/api')).register()
const { serveDatabase } = await import('../../src/thread/serve-database.ts')
const { FailingFs } = await import('./failing-fs.ts')
serveDatabase(parentPort, (folder) => new FailingFs(folder))
