import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** Removed after the test. Its own `.git` ends the search for configuration files. */
export async function temporaryFolder(): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'stet-cli-'))
  onTestFinished(() => rm(root, { recursive: true, force: true }))
  await mkdir(join(root, '.git'))
  const folder = join(root, 'work')
  await mkdir(folder)
  return folder
}
