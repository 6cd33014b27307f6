/** The versions of Node that the released packages support, as far as this machine has them. */
import { spawnSync } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const runtimes = fileURLToPath(new URL('../packages/sdk/test/runtimes/node_modules', import.meta.url))

/** The Node of this process, the workspace's, the system's, and those installed for tests. */
export function supportedNodes(): string[] {
  const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`
  const ofMachine = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => !folder.endsWith('.bin'))
  const folders = [
    ...(createRequire(import.meta.url).resolve.paths(name) ?? []).map((place) => `${place}/${name}/bin`),
    ...ofMachine,
    ...['node-20', 'node-22'].map((each) => `${runtimes}/${each}/bin`),
  ]
  const found = folders.map((folder) => join(folder, 'node')).filter((file) => existsSync(file))
  return [...new Set([process.execPath, ...found].map((file) => realpathSync(file)))].filter(isSupported)
}

/** True if the version satisfies `engines`. A distribution may ship an older one. */
function isSupported(node: string): boolean {
  const { stdout } = spawnSync(node, ['--version'], { encoding: 'utf8' })
  const [major = 0, minor = 0] =
    /^v(\d+)\.(\d+)/
      .exec(stdout ?? '')
      ?.slice(1)
      .map(Number) ?? []
  return major > 20 || (major === 20 && minor >= 19)
}
