import { mkdir, mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { inject } from 'vitest'

/** Removed after all tests. Its own `.git` ends the search for configuration files. */
export async function temporaryFolder(): Promise<string> {
  const root = await mkdtemp(join(inject('folder'), 'x-'))
  await mkdir(join(root, '.git'))
  const folder = join(root, 'work')
  await mkdir(folder)
  return folder
}
