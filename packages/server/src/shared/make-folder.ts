import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { OperatorError } from './app-error.ts'

/**
 * Makes `folder` and what is missing above it, for the owner alone. Not Node's `recursive`: where a file system refuses
 * with ENOENT, as /proc does, that never returns. @throws OperatorError
 */
export function makeFolder(folder: string): void {
  try {
    make(folder)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new OperatorError(`The folder ${folder} cannot be made (${reason})`)
  }
}

function make(folder: string): void {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return
  const parent = dirname(folder)
  if (parent !== folder) make(parent)
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw error
  }
}
