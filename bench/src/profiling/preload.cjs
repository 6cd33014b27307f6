/**
 * Loaded into every thread of a profiled server. The first SIGUSR2 starts a CPU profile in each thread. The second
 * SIGUSR2 writes one file per thread into the folder STET_BENCH_PROFILE, and then the file `done`.
 */
const { Session } = require('node:inspector')
const { writeFileSync } = require('node:fs')
const { basename, join } = require('node:path')
const { BroadcastChannel, isMainThread, threadId } = require('node:worker_threads')

const folder = process.env['STET_BENCH_PROFILE']
const channel = new BroadcastChannel('stet-bench-profile')
channel.unref()
let session
let workers = 0

function start() {
  session = new Session()
  session.connect()
  session.post('Profiler.enable')
  session.post('Profiler.setSamplingInterval', { interval: 500 })
  session.post('Profiler.start')
}

function write(then) {
  session.post('Profiler.stop', (error, result) => {
    if (error) throw error
    const name = isMainThread ? 'main' : `${basename(process.argv[1] ?? 'worker').replace(/\.\w+$/, '')}-${threadId}`
    writeFileSync(join(folder, `${name}.cpuprofile`), JSON.stringify(result.profile))
    session.disconnect()
    session = undefined
    then()
  })
}

function finish() {
  if (workers === 0) writeFileSync(join(folder, 'done'), '')
}

if (isMainThread) {
  let isWritten = false
  channel.onmessage = ({ data }) => {
    workers += data === 'started' ? 1 : data === 'written' ? -1 : 0
    if (isWritten) finish()
  }
  process.on('SIGUSR2', () => {
    if (session) {
      channel.postMessage('write')
      write(() => {
        isWritten = true
        finish()
      })
      return
    }
    isWritten = false
    channel.postMessage('start')
    start()
  })
} else {
  channel.onmessage = ({ data }) => {
    if (data === 'start') {
      start()
      channel.postMessage('started')
    }
    if (data === 'write' && session) write(() => channel.postMessage('written'))
  }
}
