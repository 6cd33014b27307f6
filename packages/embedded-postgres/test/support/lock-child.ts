/** Tries to lock a directory on each message, and reports whether it succeeded. Started by directory-lock.test.ts. */
import { type DirectoryLock, lockDirectory } from '../../src/directory/directory-lock.ts'
import { folderOf } from './database.ts'

export type LockOrder = { try: string } | { release: true }
export type LockAnswer = { ready: true } | { won: true } | { released: true } | { refused: string }

let lock: DirectoryLock | undefined

async function obey(order: LockOrder): Promise<LockAnswer> {
  if ('try' in order) {
    lock = await lockDirectory(folderOf(order.try))
    return { won: true }
  }
  await lock?.release()
  lock = undefined
  return { released: true }
}

process.on('message', (order: LockOrder) => {
  obey(order).then(
    (answer) => process.send?.(answer),
    (error: Error) => process.send?.({ refused: error.message }),
  )
})
process.send?.({ ready: true })
