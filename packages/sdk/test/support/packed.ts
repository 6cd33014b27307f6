import { fileURLToPath } from 'node:url'
import { build } from 'tsdown'
import config from '../../tsdown.config.ts'
import { isCurrent } from './is-current.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Returns the folder of the main entry's build. Builds in a git-ignored folder if `dist` is outdated. */
export async function built(name: string): Promise<string> {
  return isCurrent() ? `${root}dist` : packed(name)
}

/** Builds only the published main entry in a git-ignored folder in node_modules. Returns the folder. */
export async function packed(name: string): Promise<string> {
  const outDir = `${root}node_modules/.${name}`
  await build({ ...config, cwd: root, outDir, logLevel: 'silent' })
  return outDir
}
