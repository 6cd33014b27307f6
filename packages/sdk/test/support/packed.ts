import { fileURLToPath } from 'node:url'
import { build } from 'tsdown'
import config from '../../tsdown.config.ts'
import { isCurrent } from './is-current.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Returns the folder of the main entry's build. Builds in a git-ignored folder if `dist` is outdated. */
export async function built(name: string): Promise<string> {
  if (isCurrent()) return `${root}dist`
  const outDir = `${root}node_modules/.${name}`
  await build({ ...config, cwd: root, outDir, logLevel: 'silent' })
  return outDir
}
