import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { OperatorError } from './app-error.ts'

/**
 * Creates `folder` and its missing parents, for the owner only. Node's `recursive` option never returns on file systems
 * that refuse with ENOENT, such as /proc. @throws OperatorError
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
    // Another process may have created the folder in the meantime.
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw error
  }
}
