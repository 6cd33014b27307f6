/** Packs the package as published and installs it in empty projects. */
import { execFile } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { isCurrent } from '../support/is-current.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../..', import.meta.url))

export const ENTRIES = ['latitude', 'render', 'ai', 'testing', 'browser', 'eval'].map((name) => `@stet/sdk/${name}`)

export interface Packed {
  tarball: string
  folder: string
  remove(): void
}

/** Packs the last build. If the source is newer, builds in a separate folder, because others share `dist`. */
export async function packSdk(from: 'source' | 'dist'): Promise<Packed> {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'stet-sdk-'))
  const staged = `${folder}/staged`
  mkdirSync(staged)
  for (const file of ['package.json', 'README.md']) cpSync(`${root}/${file}`, `${staged}/${file}`)
  if (from === 'dist' || isCurrent()) cpSync(`${root}/dist`, `${staged}/dist`, { recursive: true })
  else await buildSdk(`${staged}/dist`)
  await run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], { cwd: staged })
  const [name = ''] = readdirSync(folder).filter((file) => file.endsWith('.tgz'))
  await run('tar', ['-xzf', `${folder}/${name}`, '-C', folder])
  const remove = () => rmSync(folder, { recursive: true })
  return { tarball: `${folder}/${name}`, folder: `${folder}/package`, remove }
}

async function buildSdk(folder: string): Promise<void> {
  for (const config of ['tsdown.config.ts', 'tsdown.entries.config.ts']) {
    const tsdown = [`${installed('tsdown')}/dist/run.mjs`, '--config', config, '--out-dir', folder]
    await run(process.execPath, [...tsdown, '--log-level', 'error'], { cwd: root })
  }
}

/** Creates an empty project that contains the package, its dependencies and the named workspace packages. */
export function newProject(packed: Packed, { type = 'module', others = [] as string[] } = {}): string {
  const project = mkdtempSync(join(dirname(packed.folder), 'project-'))
  writeFileSync(`${project}/package.json`, JSON.stringify({ name: 'project', private: true, type }))
  cpSync(packed.folder, `${project}/node_modules/@stet/sdk`, { recursive: true })
  const { dependencies = {} } = JSON.parse(readFileSync(`${packed.folder}/package.json`, 'utf8')) as {
    dependencies?: Record<string, string>
  }
  for (const name of [...Object.keys(dependencies), ...others]) {
    const at = `${project}/node_modules/${name}`
    mkdirSync(dirname(at), { recursive: true })
    symlinkSync(installed(name), at)
  }
  return project
}

function installed(name: string): string {
  const places = createRequire(import.meta.url).resolve.paths(name) ?? []
  const found = places.map((place) => join(place, name)).find((place) => existsSync(`${place}/package.json`))
  if (!found) throw new Error(`${name} is not installed`)
  return realpathSync(found)
}

export async function runIn(
  project: string,
  command: [string, ...string[]],
  environment: Record<string, string> = {},
): Promise<string> {
  const [file, ...args] = command
  try {
    // NODE_PATH would expose packages that the project has not installed.
    const env = { ...process.env, NODE_PATH: '', ...environment }
    const { stdout } = await run(file, args, { cwd: project, env })
    return stdout
  } catch (error) {
    // The compiler reports errors on standard output.
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    throw new Error(`${file} ${args.join(' ')}: ${stdout}${stderr}`, { cause: error })
  }
}
