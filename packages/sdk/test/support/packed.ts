import { fileURLToPath } from 'node:url'
import { build } from 'tsdown'
import config from '../../tsdown.config.ts'
import { isCurrent } from './is-current.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** The folder of the built main entry: the last build if it is current, else a build in a folder that git ignores. */
export async function built(name: string): Promise<string> {
  return isCurrent() ? `${root}dist` : packed(name)
}

/** Builds only the main entry as published, into an ignored folder in node_modules. Returns the folder. */
export async function packed(name: string): Promise<string> {
  const outDir = `${root}node_modules/.${name}`
  await build({ ...config, cwd: root, outDir, logLevel: 'silent' })
  return outDir
}
