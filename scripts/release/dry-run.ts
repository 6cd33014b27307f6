/**
 * `pnpm release:dry`: a whole release except the publication. Builds, checks and packs the packages, publishes
 * them to a registry on loopback, and uses them from there as a new user, on every supported Node, and as an upgrade.
 * So far it caught leftovers of earlier builds in the server's package (8cc56227).
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { supportedNodes } from '../supported-nodes.ts'
import { say } from '../walk/commands.ts'
import { checkPackages } from './check-packages.ts'
import { installedBytes, installScripts } from './installed.ts'
import { userEnvironment, walkNewUser, walkOtherNode } from './new-user.ts'
import { buildPackages, packPackages, repack, root } from './packages.ts'
import { type Registry, startRegistry } from './registry.ts'
import { writeSbom } from './sbom.ts'
import { walkTarballs } from './tarballs.ts'
import { walkUpgrade } from './upgrade.ts'

/** A third of it is the prompt engine with acorn and yaml (ADR 75). */
const MAX_SDK_BYTES = 1_500_000
const MAX_ALL_BYTES = 120_000_000
const SUPPORTED_NODES = [20, 22, 24]
const INSTALL = 'npm install --no-audit --no-fund'
const PREVIOUS = '0.0.0-previous'

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'stet-release-')))
let registry: Registry | undefined
try {
  buildPackages()
  const packed = packPackages(join(root, 'release'))
  say('packed')
  await checkPackages(packed, join(folder, 'unpacked'))
  say('checked')

  registry = await startRegistry(join(folder, 'registry'))
  for (const each of repack(packed, PREVIOUS, join(folder, 'previous'))) await registry.publish(each, 'previous')
  for (const each of packed) await registry.publish(each)
  say(`published at ${registry.url}`)

  requireSize('@stet/sdk', install('sdk', '@stet/sdk'), MAX_SDK_BYTES)
  const all = install('all', '@stet/sdk @stet/cli @stet/server')
  requireSize('@stet/sdk, @stet/cli and @stet/server', all, MAX_ALL_BYTES)
  const scripts = installScripts(all)
  if (scripts.length > 0) throw new Error(`packages with install scripts: ${scripts.join(', ')}`)
  const components = await writeSbom(all, join(root, 'release', 'sbom.cdx.json'))
  say(`no install scripts; ${components} components with accepted licenses in release/sbom.cdx.json`)

  const user = emptyFolder('user')
  const { answeredMs, port } = await walkNewUser(user, `${INSTALL} @stet/cli @stet/server`)
  say(`from an empty folder to an answer in ${(answeredMs / 1000).toFixed(1)} s`)
  await walkNodes(user, port)
  await walkTarballs(emptyFolder('tarballs'), registry)
  await walkUpgrade(emptyFolder('upgrade'), {
    before: `${INSTALL} @stet/cli@previous @stet/server@previous`,
    after: `${INSTALL} @stet/cli@latest @stet/server@latest`,
    version: packed[0]?.version ?? '',
  })
} finally {
  await registry?.stop()
  rmSync(folder, { recursive: true, force: true })
}

/** Creates a folder in which npm finds our packages. */
function emptyFolder(name: string): string {
  const target = join(folder, name)
  mkdirSync(target)
  registry?.useIn(target)
  return target
}

function install(name: string, packages: string): string {
  const target = emptyFolder(name)
  const options = { cwd: target, stdio: 'ignore', env: { ...process.env, ...userEnvironment() } } as const
  execFileSync('bash', ['-c', `${INSTALL} ${packages}`], options)
  return target
}

function requireSize(name: string, target: string, limit: number): void {
  const bytes = installedBytes(target)
  say(`${name}: ${(bytes / 1e6).toFixed(2)} MB installed, at most ${limit / 1e6}`)
  if (bytes > limit) throw new Error(`${name} is too large`)
}

async function walkNodes(user: string, port: string): Promise<void> {
  const found = new Map(supportedNodes().map((node) => [majorOf(node), node]))
  const missing = SUPPORTED_NODES.filter((major) => !found.has(major))
  if (missing.length > 0) {
    const advice = 'pnpm install --ignore-workspace --frozen-lockfile --dir packages/sdk/test/runtimes'
    console.warn(`\n*** SKIPPED: the packages on Node ${missing.join(', ')}. To install them: ${advice} ***\n`)
  }
  for (const [major, node] of found) if (major !== majorOf(process.execPath)) await walkOtherNode(user, port, node)
}

function majorOf(node: string): number {
  return Number(/^v(\d+)/.exec(spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout)?.[1])
}
