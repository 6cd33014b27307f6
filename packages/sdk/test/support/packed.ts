import { fileURLToPath } from 'node:url'
import { build } from 'tsdown'
import config from '../../tsdown.config.ts'
import { isCurrent } from './is-current.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** The folder of the built main entry: as it was built last if that is of this source, else built beside, out of git's sight. */
export async function built(name: string): Promise<string> {
  return isCurrent() ? `${root}dist` : packed(name)
}

/** Builds the main entry alone as it is published and gives the folder; ignored by git like all of node_modules. */
export async function packed(name: string): Promise<string> {
  const outDir = `${root}node_modules/.${name}`
  await build({ ...config, cwd: root, outDir, logLevel: 'silent' })
  return outDir
}
