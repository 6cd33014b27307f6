/** The packages that a release publishes, in the order in which they depend on each other. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../..', import.meta.url))

export const released = ['sdk', 'cli', 'server'] as const

export interface Packed {
  name: string
  version: string
  tarball: string
}

export interface Manifest {
  name: string
  version: string
  license?: string
  private?: boolean
  files?: string[]
  publishConfig?: { access?: string; provenance?: boolean }
  scripts?: Record<string, string>
  dependencies?: Record<string, string>
}

export function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
}

/** Builds from empty folders, because files of an older build would be packed too. */
export function buildPackages(): void {
  for (const folder of released) rmSync(join(root, 'packages', folder, 'dist'), { recursive: true, force: true })
  execFileSync('pnpm', ['run', 'build'], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] })
}

/** Writes a tarball of each package's build into `folder`, which is emptied first. */
export function packPackages(folder: string): Packed[] {
  mkdirSync(folder, { recursive: true })
  // Only tarballs of earlier runs: `pnpm test:long` keeps its results here.
  for (const file of readdirSync(folder)) if (file.endsWith('.tgz')) rmSync(join(folder, file))
  return released.map((each) => {
    const source = join(root, 'packages', each)
    // pnpm replaces `workspace:*` by the version.
    execFileSync('pnpm', ['pack', '--pack-destination', folder], { cwd: source, stdio: 'ignore' })
    const { name, version } = readManifest(source)
    return { name, version, tarball: join(folder, tarballName(name, version)) }
  })
}

/** Packs the same files under another version, to stand in for the previous release. */
export function repack(packed: readonly Packed[], version: string, folder: string): Packed[] {
  mkdirSync(folder, { recursive: true })
  return packed.map(({ name, version: current, tarball }) => {
    const work = mkdtempSync(join(tmpdir(), 'stet-repack-'))
    execFileSync('tar', ['-xzf', tarball, '-C', work])
    const file = join(work, 'package', 'package.json')
    const manifest = JSON.parse(readFileSync(file, 'utf8'))
    manifest.version = version
    for (const [each, range] of Object.entries(manifest.dependencies))
      if (packed.some((other) => other.name === each) && range === current) manifest.dependencies[each] = version
    writeFileSync(file, JSON.stringify(manifest))
    const target = join(folder, tarballName(name, version))
    execFileSync('tar', ['-czf', target, '-C', work, 'package'])
    rmSync(work, { recursive: true })
    return { name, version, tarball: target }
  })
}

function tarballName(name: string, version: string): string {
  return `${name.replace('@', '').replace('/', '-')}-${version}.tgz`
}
