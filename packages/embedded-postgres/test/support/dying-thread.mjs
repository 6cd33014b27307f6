/** A database thread that opens nothing and fails at its first statement. Started by dying-thread-child.ts. */
import { parentPort } from 'node:worker_threads'

parentPort.on('message', ({ id, task }) => {
  if (task !== 'open') throw new Error('out of its depth')
  parentPort.postMessage({ id, syncs: 0 })
})
