/** Checks the tarballs before they are published: manifests, legal files, publint, and attw for the one with types. */
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { type Packed, readManifest, root } from './packages.ts'

export async function checkPackages(packed: readonly Packed[], folder: string): Promise<void> {
  const problems: string[] = []
  for (const { name, version, tarball } of packed) {
    const target = join(folder, name.replace('/', '-'))
    mkdirSync(target, { recursive: true })
    execFileSync('tar', ['-xzf', tarball, '-C', target])
    const unpacked = join(target, 'package')
    const { messages, pkg } = await publint({ pkgDir: unpacked, strict: true, pack: false })
    problems.push(...messages.map((message) => `${name}: ${formatMessage(message, pkg)}`))
    problems.push(...faultsOf(unpacked, version).map((fault) => `${name}: ${fault}`))
    // Only the SDK has types. The profile skips Node 10's resolution, which the SDK does not support.
    if (name === '@stet/sdk') attw(tarball)
  }
  if (problems.length > 0) throw new Error(problems.join('\n'))
}

function attw(tarball: string): void {
  // Only `@stet/cli` may use this entry, so it has no types.
  const options = ['--profile', 'node16', '--exclude-entrypoints', './prompt-scan']
  const { status, stdout, stderr } = spawnSync('attw', [tarball, ...options], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${stdout}${stderr}`)
}

function faultsOf(unpacked: string, version: string): string[] {
  const manifest = readManifest(unpacked)
  const faults: string[] = []
  const expectThat = (holds: boolean, fault: string): void => {
    if (!holds) faults.push(fault)
  }
  expectThat(manifest.private === undefined, 'is private')
  expectThat(manifest.license === 'Apache-2.0', `has the license ${manifest.license}`)
  expectThat(manifest.publishConfig?.provenance === true, 'is published without provenance')
  expectThat(manifest.publishConfig?.access === 'public', 'is not published with public access')
  const scripts = Object.keys(manifest.scripts ?? {})
  expectThat(!scripts.some((each) => /^(pre|post)?install$|^prepare$/.test(each)), 'has an install script')
  for (const [dependency, range] of Object.entries(manifest.dependencies ?? {}))
    expectThat(/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(range), `depends on ${dependency}@${range}, which is not one version`)
  const own = Object.entries(manifest.dependencies ?? {}).filter(([dependency]) => dependency.startsWith('@stet/'))
  for (const [dependency, range] of own) expectThat(range === version, `needs ${dependency} ${range}`)
  const legal = readFileSync(join(root, 'LICENSE'), 'utf8')
  expectThat(read(unpacked, 'LICENSE') === legal, 'has a different LICENSE from the repository')
  expectThat(read(unpacked, 'README.md') !== '', 'has no README.md')
  expectThat(read(unpacked, 'dist/LICENSES.txt') !== '', 'has no licenses of its bundled packages')
  const isServer = manifest.name === '@stet/server'
  const folders = readdirSync(join(unpacked, 'dist'), { withFileTypes: true }).filter((entry) => entry.isDirectory())
  const older = folders.map(({ name }) => name).filter((name) => !isServer || name !== 'console')
  expectThat(older.length === 0, `has folders of an older build in dist: ${older}`)
  if (isServer) faults.push(...consoleFaults(join(unpacked, 'dist')))
  return faults
}

/** The console of a package must be the one that its file list describes. */
function consoleFaults(dist: string): string[] {
  const text = read(dist, 'console/console.json')
  if (text === '') return ['has no console']
  const { files } = JSON.parse(text) as { files: { path: string; sha256: string }[] }
  const differing = files.filter(({ path, sha256 }) => sha256 !== digestOf(join(dist, 'console', path)))
  const faults = differing.map(({ path }) => `has another console/${path} than console.json lists`)
  return read(dist, 'console/LICENSES.txt') === '' ? [...faults, 'has no licenses of the console'] : faults
}

function digestOf(file: string): string {
  return existsSync(file) ? createHash('sha256').update(readFileSync(file)).digest('hex') : ''
}

function read(folder: string, file: string): string {
  try {
    return readFileSync(join(folder, file), 'utf8')
  } catch {
    return ''
  }
}
