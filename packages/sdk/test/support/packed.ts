import { fileURLToPath } from 'node:url'
import { build } from 'tsdown'
import config from '../../tsdown.config.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Builds the package as it is published and gives the folder; ignored by git like all of node_modules. */
export async function packed(name: string): Promise<string> {
  const outDir = `${root}node_modules/.${name}`
  await build({ ...config, cwd: root, outDir, logLevel: 'silent' })
  return outDir
}
