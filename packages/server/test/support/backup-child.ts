/**
 * `backup` reports to its parent when a part of the file is written, and then waits for a byte or the end of its
 * standard input. `restore` kills itself between its first files, which its own event loop writes.
 */
import { existsSync, readdirSync, readSync } from 'node:fs'
import { backupEmbedded, restoreEmbedded } from '../../src/adapters/database/embedded-files.ts'

const [command, directory = '', file = ''] = process.argv.slice(2)
let hasWaited = false

function waitOnce(): void {
  if (hasWaited || !existsSync(`${file}.part`)) return
  hasWaited = true
  process.send?.('begun')
  readSync(0, Buffer.alloc(1))
}

function killInWork(): void {
  if (readdirSync(directory).some((name) => name.startsWith('stet-work-'))) process.kill(process.pid, 'SIGKILL')
}

if (command === 'backup') await backupEmbedded(directory, file, waitOnce)
else {
  setInterval(killInWork, 1)
  await restoreEmbedded(directory, file)
}
process.exit(0)
