/** A database thread that opens nothing and never comes to an end with its first statement. Started by silent-thread-child.ts. */
import { parentPort } from 'node:worker_threads'

parentPort.on('message', ({ id, task }) => {
  if (task === 'script') for (;;);
  parentPort.postMessage({ id, syncs: 0 })
})
