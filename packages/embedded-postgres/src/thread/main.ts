/** The program of the database thread: the only one that loads PGlite while a server runs. */
import { parentPort } from 'node:worker_threads'
import { serveDatabase } from './serve-database.ts'

if (!parentPort) throw new Error('This is the program of a worker thread')
serveDatabase(parentPort)
