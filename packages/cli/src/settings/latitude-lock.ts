import { join } from 'node:path'
import { CliError } from '../exit-code.ts'
import { parseJsonObject, readTextIfPresent } from './json-file.ts'

/** The lock file of the discontinued service's CLI. */
export const latitudeLockName = 'latitude-lock.json'

export interface LatitudeLock {
  projectId: number
  rootFolder: string
  version: string
}

export async function readLatitudeLock(folder: string): Promise<LatitudeLock | undefined> {
  const file = join(folder, latitudeLockName)
  const text = await readTextIfPresent(file)
  if (text === undefined) return undefined
  const { projectId, rootFolder, version = 'live' } = parseJsonObject(text, file)
  const isProject = typeof projectId === 'number' && Number.isSafeInteger(projectId) && projectId > 0
  if (isProject && typeof rootFolder === 'string' && typeof version === 'string') {
    return { projectId, rootFolder, version }
  }
  throw new CliError('usage', `${file} lacks projectId, rootFolder or version`)
}
