/** The database thread's program. While a server runs, only this thread loads PGlite. */
import { parentPort } from 'node:worker_threads'
import { serveDatabase } from './serve-database.ts'

if (!parentPort) throw new Error('This is the program of a worker thread')
serveDatabase(parentPort)
