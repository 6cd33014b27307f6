import { join } from 'node:path'
import { CliError } from '../exit-code.ts'
import { parseJsonObject, readTextIfPresent } from './json-file.ts'

/** The name of the lock that the CLI of the discontinued service leaves in a project. */
export const latitudeLockName = 'latitude-lock.json'

/** What that lock says. */
export interface LatitudeLock {
  projectId: number
  /** The folder of the prompt files, relative to the lock. */
  rootFolder: string
  /** A version's uuid, or `live`. */
  version: string
}

/** The lock of a folder, or undefined when there is none. */
export async function readLatitudeLock(folder: string): Promise<LatitudeLock | undefined> {
  const file = join(folder, latitudeLockName)
  const text = await readTextIfPresent(file)
  if (text === undefined) return undefined
  const { projectId, rootFolder, version = 'live' } = parseJsonObject(text, file)
  const isProject = typeof projectId === 'number' && Number.isSafeInteger(projectId) && projectId > 0
  if (isProject && typeof rootFolder === 'string' && typeof version === 'string') {
    return { projectId, rootFolder, version }
  }
  throw new CliError('usage', `${file} does not name projectId, rootFolder and version`)
}
