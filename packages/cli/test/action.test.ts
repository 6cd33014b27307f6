import { spawn } from 'node:child_process'
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { tally } from '../../../scripts/tally.ts'
import { commitAll, git } from './support/git.ts'
import { startGithub } from './support/github.ts'
import { succeed, write } from './support/pair.ts'
import { account, loggedIn, server } from './support/shared-server.ts'
import { bin, type Person } from './support/stet.ts'
import { stetCommand } from './support/stet-command.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

const folder = new URL('../../../action/', import.meta.url)
const script = fileURLToPath(new URL('run.mjs', folder))

let ana: Person
let fake: Awaited<ReturnType<typeof startGithub>>
let stet: Awaited<ReturnType<typeof stetCommand>>
let client: ReturnType<typeof account.project>

beforeAll(async () => {
  fake = await startGithub()
  stet = await stetCommand()
  ana = await loggedIn()
  await rm(join(ana.folder, '.git'), { recursive: true })
  git(ana.folder, 'init', '-q', '-b', 'main')
  await writeFile(join(ana.folder, '.gitignore'), '.cache\n.config\n.state\n')
  await write(ana, 'a', 'first a\n')
  await write(ana, 'b', 'first b\n')
  const { project } = JSON.parse(await succeed(ana, 'init', '--create', 'action', '--json'))
  client = account.project(project.id)
  await succeed(ana, 'push', '--publish', '--yes')
  commitAll(ana.folder)
  git(ana.folder, 'switch', '-q', '-c', 'tone')
})
afterAll(() => {
  fake.stop()
  stet.stop()
})

const head = { repo: { full_name: 'team/prompts' } }
const pullRequest = (action: string, from: unknown = head) => ({ action, pull_request: { number: 12, head: from } })

type Inputs = Record<string, string>

/** What a workflow passes to the action. The other inputs have their defaults. */
const given = (): Inputs => ({
  'base-url': server.address,
  'api-key': server.adminKey,
  command: stet.command,
  'github-token': 'ghs_token',
})

interface Act {
  inputs?: Inputs
  env?: Record<string, string>
  /** The folder of the checkout that the action works in. */
  workingDirectory?: string
}

/** The variables of the action's step. Its expressions are also those of JavaScript, except for the dashes of inputs. */
async function stepEnv(event: object, name: string, inputs: Inputs): Promise<Record<string, string>> {
  const { inputs: declared, runs } = parse(await readFile(new URL('action.yml', folder), 'utf8'))
  const defaults = Object.entries<{ default?: string }>(declared).map(([key, one]) => [key, one.default ?? ''])
  const values = { ...Object.fromEntries(defaults), ...inputs }
  const github = { event_name: name, event, repository: 'team/prompts' }
  const evaluated = (expression: string) => {
    const code = expression.replaceAll(/inputs\.([\w-]+)/g, "inputs['$1']")
    return String(new Function('github', 'inputs', `return ${code}`)(github, values))
  }
  const written = Object.entries<string>(runs.steps[0].env)
  return Object.fromEntries(
    written.map(([key, text]) => [key, text.replaceAll(/\$\{\{ (.+?) \}\}/g, (_, code: string) => evaluated(code))]),
  )
}

/** Runs the action's script in a fresh checkout of Ana's branch, as the runner does. */
async function act(name: string, event: object, { inputs = {}, env = {}, workingDirectory = '' }: Act = {}) {
  const root = await temporaryFolder()
  const [checkout, file] = [join(root, 'checkout'), join(root, 'event.json')]
  git(root, 'clone', '-q', `file://${ana.folder}`, checkout)
  await writeFile(file, JSON.stringify({ repository: { default_branch: 'main' }, ...event }))
  await writeFile(join(root, 'output'), '')
  tally('child process')
  const child = spawn(process.execPath, [script], {
    cwd: join(checkout, workingDirectory),
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      HOME: root,
      CI: 'true',
      GIT_CONFIG_NOSYSTEM: '1',
      GITHUB_ACTIONS: 'true',
      GITHUB_API_URL: fake.github.address,
      GITHUB_EVENT_NAME: name,
      GITHUB_EVENT_PATH: file,
      GITHUB_OUTPUT: join(root, 'output'),
      GITHUB_REF: 'refs/heads/main',
      GITHUB_REPOSITORY: 'team/prompts',
      GITHUB_SHA: git(checkout, 'rev-parse', 'HEAD'),
      GITHUB_WORKSPACE: checkout,
      ...(await stepEnv(event, name, { ...given(), ...inputs })),
      ...env,
    },
  })
  const code = new Promise<number | null>((resolve) => child.once('close', resolve))
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  return { code: await code, log: stdout + stderr, output: await readFile(join(root, 'output'), 'utf8') }
}

async function draft(name = 'team/prompts#12'): Promise<Record<string, string | null> | undefined> {
  const found = (await client.versions.list({ status: 'draft' })).find(({ title }) => title === name)
  if (!found) return undefined
  const { changes } = await client.versions.diff(found.uuid)
  return Object.fromEntries(changes.map(({ path, after }) => [path, after?.content ?? null]))
}

const liveText = async (path: string): Promise<string> => (await client.prompts.get(path)).content

test('the pull request of a fork is only compiled, and says so; its step gets no secrets', async () => {
  await write(ana, 'a', 'of a stranger\n')
  commitAll(ana.folder)
  const fork = pullRequest('opened', { repo: { full_name: 'stranger/prompts' } })
  // Some organizations pass secrets to forks. A deleted fork has no repository.
  for (const event of [fork, pullRequest('opened', { repo: {} })])
    expect(await stepEnv(event, 'pull_request', given())).toMatchObject({ STET_API_KEY: '', STET_ACTION_TOKEN: '' })
  const { code, log } = await act('pull_request', fork)
  expect({ code, draft: await draft(), comments: fake.github.comments }).toEqual({
    code: 0,
    draft: undefined,
    comments: [],
  })
  expect(log).toContain('::notice::Prompts were only compiled: a pull request from a fork gets no draft')
})

test('a runner with Windows is refused', async () => {
  const { code, log } = await act('pull_request', pullRequest('opened'), { env: { RUNNER_OS: 'Windows' } })
  expect([code, log]).toEqual([2, expect.stringMatching(/^::error::This action needs a runner with Linux or macOS/)])
})

test('a pull request without changes opens no draft and no comment', async () => {
  await write(ana, 'a', 'first a\n')
  commitAll(ana.folder)
  expect((await act('pull_request', pullRequest('opened'))).code).toBe(0)
  expect({ draft: await draft(), comments: fake.github.comments }).toEqual({ draft: undefined, comments: [] })
})

test('an opened pull request gets a draft and one comment, whose fence no text can end', async () => {
  // A person's comments with the marker, on more than one page, are not the action's.
  const copy = { body: '<!-- stet . --> mine', user: { type: 'User' } }
  for (let id = 1; id <= 101; id += 1) fake.github.comments.push({ id, ...copy })
  const hostile = 'first a\n````\n</details><img src=x> @team ::error::x $(touch owned)\n'
  await write(ana, 'a', hostile)
  commitAll(ana.folder)
  const { code, output, log } = await act('pull_request', pullRequest('opened'))
  expect({ code, draft: await draft() }).toEqual({ code: 0, draft: { a: hostile } })
  expect(output).toMatch(/^draft=[0-9a-f-]{36}\n$/)
  expect(log).not.toMatch(/ghs_token|^::error::x/m)
  const [comment, ...others] = fake.github.comments.slice(101)
  expect(others).toEqual([])
  expect(comment?.body).toMatch(
    /^<!-- stet \. -->\n\*\*Prompts\*\*: Draft `team\/prompts#12` \(`[0-9a-f-]{36}`\) has 1 change\. [^\n]+\n\n`````diff\n---/,
  )
  expect(comment?.body).toContain('\n+````\n')
  expect(comment?.body).toMatch(/\n`````\n$/)
  expect([...fake.github.tokens]).toEqual(['Bearer ghs_token'])
})

test('the next push replaces the changes of the draft and the text of the comment', async () => {
  await write(ana, 'a', 'first a\n')
  await write(ana, 'b', `${'a long line of b\n'.repeat(5000)}`)
  commitAll(ana.folder)
  expect((await act('pull_request', pullRequest('synchronize'))).code).toBe(0)
  expect(Object.keys((await draft()) ?? {})).toEqual(['b'])
  expect(fake.github.comments).toHaveLength(102)
  const { body = '' } = fake.github.comments.at(-1) ?? {}
  expect(body).not.toContain('owned')
  expect(body.length).toBeLessThan(65_536)
  expect(body).toMatch(/\n```\n\nThe rest is left out: \d+ characters\.\n$/)
})

test('a folder has its own draft and comment', async () => {
  const count = fake.github.comments.length
  const at = join(ana.folder, 'apps', 'web')
  await mkdir(at, { recursive: true })
  for (const name of ['prompts', 'stet.config.json', 'stet.lock.json'])
    await cp(join(ana.folder, name), join(at, name), { recursive: true })
  await writeFile(join(at, 'prompts', 'a.promptl'), 'a of the web\n')
  commitAll(ana.folder)
  const before = await draft()
  expect((await act('pull_request', pullRequest('synchronize'), { workingDirectory: 'apps/web' })).code).toBe(0)
  expect(await draft()).toEqual(before)
  expect(await draft('team/prompts/apps/web#12')).toMatchObject({ a: 'a of the web\n' })
  expect(fake.github.comments).toHaveLength(count + 1)
  expect((await act('pull_request', pullRequest('closed'), { workingDirectory: 'apps/web' })).code).toBe(0)
  expect(await draft('team/prompts/apps/web#12')).toBeUndefined()
  await rm(join(ana.folder, 'apps'), { recursive: true })
  fake.github.comments.pop()
})

test('a comment that GitHub refuses does not fail the job', async () => {
  fake.github.isForbidden = true
  await write(ana, 'b', 'second b\n')
  commitAll(ana.folder)
  const { code, log } = await act('pull_request', pullRequest('synchronize'))
  fake.github.isForbidden = false
  expect({ code, draft: await draft() }).toEqual({ code: 0, draft: { b: 'second b\n' } })
  expect(log).toContain('::warning::No comment was written: GitHub answered 403.')
})

test('a prompt that does not compile is an error at its line and in the comment, and leaves the draft', async () => {
  await write(ana, 'b', '{{ if }}\n')
  commitAll(ana.folder)
  const { code, log } = await act('pull_request', pullRequest('synchronize'))
  expect({ code, draft: await draft() }).toEqual({ code: 7, draft: { b: 'second b\n' } })
  expect(log).toContain('::error file=prompts/b.promptl,line=1')
  expect(fake.github.comments.at(-1)?.body).toContain('The prompts do not pass the check')
})

test('a merge publishes, and closing the pull request deletes its draft; another branch publishes nothing', async () => {
  await write(ana, 'b', 'third b\n')
  commitAll(ana.folder)
  const other = await act('push', {}, { env: { GITHUB_REF: 'refs/heads/tone' } })
  expect(other).toMatchObject({ code: 0, log: expect.stringContaining('is not the default branch') })
  expect(await liveText('b')).toBe('first b\n')
  const program = { command: `${process.execPath} ${bin}` }
  expect((await act('push', {}, { inputs: program })).code).toBe(0)
  expect(await liveText('b')).toBe('third b\n')
  expect((await client.versions.get('live')).title).toBe(git(ana.folder, 'rev-parse', 'HEAD'))
  expect((await act('pull_request', pullRequest('closed'))).code).toBe(0)
  expect(await draft()).toBeUndefined()
})

test('with eval, a draft that breaks a must row fails the job, and the comment says what broke', async () => {
  const prompt = (policy: string): string => `---\nprovider: demo\nmodel: demo\n---\n<user>${policy}</user>\n`
  await write(ana, 'c', prompt('5 days'))
  commitAll(ana.folder)
  expect((await act('push', {})).code).toBe(0)
  const { documentUuid } = await client.prompts.get('c')
  const checks = [{ type: 'contains' as const, any: ['5 days'] }]
  await client.examples.create({ documentUuid, name: 'policy', parameters: {}, checks, tags: ['must'] })
  await write(ana, 'c', prompt('14 days'))
  commitAll(ana.folder)
  const { code } = await act('pull_request', pullRequest('reopened'), { inputs: { eval: 'true' } })
  expect(code).toBe(11)
  const { body } = fake.github.comments.at(-1) ?? {}
  expect(body).toContain('1 broke (1 must), 0 fixed, 0 same')
  expect(body).toContain('+<user>14 days</user>')
  expect((await act('pull_request', pullRequest('closed'))).code).toBe(0)
})

test('a conflict with a text on the server ends with 6 and is in the comment; nothing is sent', async () => {
  const { uuid } = await client.versions.create('of ben')
  await client.versions.push(uuid, [{ path: 'a', content: 'a of ben\n', status: 'modified' }])
  await client.versions.publish(uuid)
  await write(ana, 'a', 'a of ana\n')
  commitAll(ana.folder)
  expect((await act('pull_request', pullRequest('reopened'))).code).toBe(6)
  expect(await draft()).toBeUndefined()
  const { body } = fake.github.comments.at(-1) ?? {}
  expect(body).toContain('The prompts were not sent to a draft.')
  expect(body).toMatch(/```diff\nA colleague changed the same prompts; nothing was sent\n {2}a {2}lines [^\n]+\nNext: /)
  expect((await act('push', {})).code).toBe(6)
  expect(await liveText('a')).toBe('a of ben\n')
})

test('an event with rights over the base repository is refused: it checks out the text of strangers', async () => {
  const { code, log } = await act('pull_request_target', pullRequest('opened'))
  expect(code).toBe(2)
  expect(log).toContain('not on pull_request_target')
})
