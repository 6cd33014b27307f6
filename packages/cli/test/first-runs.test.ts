/** The first runs that docs/ci.md and docs/moving.md show, word by word. */
import { execFile } from 'node:child_process'
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Stet } from '@stet/sdk'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type RunningServer, startServer } from './support/server.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

const repository = fileURLToPath(new URL('../../../', import.meta.url))
const exec = promisify(execFile)

let server: RunningServer
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.stop())

/** The commands of the block behind a mark of a page. */
async function commandsBehind(mark: string, page: string): Promise<string[]> {
  const text = await readFile(join(repository, 'docs', page), 'utf8')
  const block = text.split(`<!-- walk: ${mark} -->`)[1]?.split('```')[1] ?? ''
  return [...block.matchAll(/^(?:\$|\s*- run:) (npx stet .*?)(?: {2,}#.*)?$/gm)].map(([, command = '']) => command)
}

/** A folder in which npx finds the program, as after an installation. */
async function makeCheckout(source?: string): Promise<string> {
  const folder = await temporaryFolder()
  if (source !== undefined) await exec('git', ['clone', '-q', source, folder])
  await symlink(join(repository, 'node_modules'), join(folder, 'node_modules'))
  return folder
}

async function run(command: string, cwd: string, env: Record<string, string> = {}): Promise<string> {
  const base = { PATH: process.env['PATH'] ?? '', HOME: cwd, STET_BASE_URL: server.address, LANG: 'C.UTF-8' }
  const { stdout } = await exec('bash', ['-c', command], { cwd, env: { ...base, ...env } }).catch((error: Error) => {
    throw new Error(`${command}: ${error.message}`)
  })
  return stdout
}

async function git(cwd: string, ...argv: string[]): Promise<string> {
  const who = ['-c', 'user.name=Ana', '-c', 'user.email=ana@acme.example', '-c', 'init.defaultBranch=main']
  return (await exec('git', [...who, ...argv], { cwd })).stdout.trim()
}

const liveTexts = async (projectId: number): Promise<Record<string, string>> => {
  const prompts = await new Stet({ apiKey: server.adminKey, baseUrl: server.address, projectId }).prompts.list()
  return Object.fromEntries(prompts.map(({ path, content }) => [path, content]))
}

test('docs/moving.md: files of the discontinued service go live', async () => {
  const folder = await makeCheckout()
  await mkdir(join(folder, '.stet'))
  await writeFile(join(folder, '.stet', 'admin.key'), `${server.adminKey}\n`)
  await cp(join(repository, 'examples', 'prompts'), join(folder, 'prompts'), { recursive: true })
  const commands = await commandsBehind('moving', 'moving.md')
  expect(commands).toHaveLength(4)
  for (const command of commands) await run(command, folder)
  const reply = await readFile(join(folder, 'prompts', 'support', 'reply.promptl'), 'utf8')
  expect(await liveTexts(1)).toMatchObject({ 'support/reply': reply })
})

test('docs/ci.md: a pull request becomes a draft, and its merge goes live', async () => {
  const origin = await makeCheckout()
  const env = { STET_API_KEY: server.adminKey }
  await mkdir(join(origin, 'prompts'))
  const write = (text: string, cwd = origin) => writeFile(join(cwd, 'prompts', 'hello.promptl'), text)
  const front = '---\nprovider: demo\nmodel: demo\n---\n'
  await write(`${front}Hello.\n`)
  await writeFile(join(origin, '.gitignore'), 'node_modules\n.npm\n')
  const projectId: number = JSON.parse(await run('npx stet init --create "In CI" --json', origin, env)).project.id
  await run('npx stet push --publish --yes', origin, env)
  await git(origin, 'init', '-q')
  await git(origin, 'add', '.')
  await git(origin, 'commit', '-qm', 'prompts')
  const [drafting = '', publishing = ''] = await Promise.all(
    (await commandsBehind('keys', 'ci.md')).map(async (command) => (await run(command, origin, env)).trim()),
  )
  const [check = '', push = '', publish = '', ...more] = await commandsBehind('workflow', 'ci.md')
  expect(more).toEqual([])

  // Twice: the lock of the first publication is gone with its machine.
  for (const text of ['Hello there.', 'Good morning.']) {
    await git(origin, 'checkout', '-q', '-B', 'friendlier')
    await write(`${front}${text}\n`)
    await git(origin, 'commit', '-qam', text)
    const pullRequest = await makeCheckout(origin)
    await run(check, pullRequest, { CI: 'true' })
    await run(push, pullRequest, { CI: 'true', STET_API_KEY: drafting, BRANCH: 'friendlier' })
    expect(await liveTexts(projectId)).not.toEqual({ hello: `${front}${text}\n` })
    await git(origin, 'checkout', '-q', '-B', 'main')
    const merged = await makeCheckout(origin)
    const sha = await git(merged, 'rev-parse', 'HEAD')
    await run(publish, merged, { CI: 'true', STET_API_KEY: publishing, GITHUB_SHA: sha })
    expect(await liveTexts(projectId)).toEqual({ hello: `${front}${text}\n` })
  }
})
