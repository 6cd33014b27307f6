/** A database thread whose first statement never ends. Started by silent-thread-child.ts. */
import { parentPort } from 'node:worker_threads'

parentPort.on('message', ({ id, task }) => {
  if (task === 'script') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  parentPort.postMessage({ id, syncs: 0 })
})
