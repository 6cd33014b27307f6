/**
 * Builds the server with its production dependencies into a folder, from a checkout. These are the build steps of the
 * image: the Dockerfile calls this script, and so does scripts/checks/container.ts. It needs Node and npm alone.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const [target] = process.argv.slice(2)
if (target === undefined) throw new Error('usage: node deploy/build.mjs <target folder>')

const root = fileURLToPath(new URL('..', import.meta.url))
const { name, packageManager } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))

// The build tools are dependencies of the workspace itself. The lockfile decides the versions in the target too.
pnpm('install', '--frozen-lockfile', '--filter', name, '--filter', '@stet/server...')
pnpm('--filter', '@stet/server...', 'run', 'build')
pnpm('--filter', '@stet/server', '--prod', '--config.inject-workspace-packages=true', 'deploy', resolve(target))

function pnpm(...args) {
  const env = { ...process.env, CI: 'true', npm_config_update_notifier: 'false' }
  execFileSync('npx', ['--yes', packageManager, ...args], { cwd: root, env, stdio: ['ignore', 'inherit', 'inherit'] })
}
