/**
 * Follows the README and the first runs of other documents as a new user. Starts with a fresh clone, an empty data
 * folder, and only the documented commands and files. A second part starts from an empty folder and ends with a typed
 * application. The executed blocks follow `<!-- walk: … -->`.
 * So far it caught servers and logins that disturbed each other (1a333df7, 49e20e48).
 */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run, say, withServer } from '../walk/commands.ts'
import { openDocument, type WalkedDocument } from '../walk/document.ts'
import { walkEvals } from '../walk/evals.ts'
import { walkQuickStarts } from '../walk/quick-starts.ts'
import { groupOf, runWorkflow, type WorkflowContext } from '../walk/workflow.ts'

const folder = mkdtempSync(join(tmpdir(), 'stet-walk-'))
const clone = join(folder, 'stet')
execFileSync('git', ['clone', '-q', '.', clone])
const readme = openDocument(clone, 'README.md')
const [start = ''] = readme.commands('server')
const [startOwn = ''] = readme.commands('own server')

try {
  await withServer(start, clone, async (address) => {
    await walkFirstMinute(address)
    await walkSdk(address)
    await walkCi(address)
    await walkQuickStarts(clone, address)
    await walkEvals(clone, address)
  })
  await withServer(startOwn, clone, async (address) => {
    await walkOwnProject(address)
    await walkMoving(address)
  })
  say('done')
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function walkFirstMinute(address: string): Promise<void> {
  const answer = await runAll(readme.commands('client'), clone, address)
  if (answer.trim().split(/\s+/).length < 5) throw new Error(`the last command answered only: ${answer}`)
}

/** Walks docs/sdk/README.md with the quick start's server and prompts. */
async function walkSdk(address: string): Promise<void> {
  const document = openDocument(clone, 'docs/sdk/README.md')
  document.write('first-run.mjs', clone)
  const said = await runAll(document.commands('first run'), clone, address)
  if (said.match(/Where is my order\?/g)?.length !== 2) throw new Error(`the two runs of the SDK said: ${said}`)
  say('docs/sdk/README.md')
}

/** Walks docs/ci.md with a repository of the quick start's prompts, a branch, and its merge. */
async function walkCi(address: string): Promise<void> {
  const document = openDocument(clone, 'docs/ci.md')
  const keys: string[] = []
  for (const command of document.commands('keys')) keys.push((await run(command, clone, at(address))).trim())
  const [STET_API_KEY, STET_PUBLISH_KEY] = keys
  const repository = await makePromptRepository(address)
  const context = (github: Record<string, unknown>): WorkflowContext => ({
    github: { ...github, sha: git(repository, 'rev-parse', 'HEAD'), repository: 'team/prompts' },
    vars: { STET_BASE_URL: address },
    secrets: { STET_API_KEY, STET_PUBLISH_KEY },
  })
  const workflow = document.block('workflow')
  const runOf = (github: Record<string, unknown>, branch: string): Promise<string[]> =>
    runWorkflow(workflow, context(github), { repository, branch, folder: join(clone, `ci-${branch}`) })

  git(repository, 'switch', '-q', '-c', 'tone')
  changeReply(repository)
  commit(repository, 'Friendlier tone')
  const head = { repo: { full_name: 'team/prompts' } }
  const eventOf = (action: string) => {
    const event = { action, number: 1, pull_request: { head } }
    return { event_name: 'pull_request', event, head_ref: 'tone', ref_name: '1/merge', run_id: action }
  }
  const pullRequest = (action: string, branch: string) => runOf(eventOf(action), branch)
  const push = { event_name: 'push', event: {}, ref_name: 'main', run_id: 'push' }
  const groups = [eventOf('opened'), eventOf('closed'), push].map((github) => groupOf(workflow, context(github)))
  if (groups.join() !== 'run 1,run 1,run push') throw new Error(`the groups of runs are ${groups}`)
  const pulled = await pullRequest('opened', 'tone')
  if (pulled.join() !== 'check,draft') throw new Error(`a pull request ran ${pulled}`)
  if ((await draftsOf(address, 'tone')) !== 1) throw new Error('a pull request opened no draft')
  if ((await liveReply(address)).includes('friendly')) throw new Error('a pull request changed live')
  await walkGates(document, join(clone, 'ci-tone', 'draft'), { ...at(address), STET_API_KEY: STET_PUBLISH_KEY })

  git(repository, 'switch', '-q', 'main')
  git(repository, 'merge', '-q', '--ff-only', 'tone')
  const pushed = await runOf(push, 'main')
  if (pushed.join() !== 'check,publish') throw new Error(`a push ran ${pushed}`)
  if (!(await liveReply(address)).includes('friendly')) throw new Error('a push to main did not reach live')
  const closed = await pullRequest('closed', 'main')
  if (closed.join() !== 'close') throw new Error(`a closed pull request ran ${closed}`)
  if ((await draftsOf(address, 'tone')) !== 0) throw new Error('a closed pull request left its draft')
  say('docs/ci.md')
}

/** Runs the table's commands. They succeed if files, types and a freshly pushed draft agree. */
async function walkGates(document: WalkedDocument, checkout: string, env: NodeJS.ProcessEnv): Promise<void> {
  await run('npx stet types generate', checkout, env)
  const gates = document.firstColumn('gates')
  if (gates.length < 5) throw new Error(`only ${gates.length} gates in docs/ci.md`)
  for (const command of gates) await run(`npx ${command}`, checkout, env)
}

/** Creates the repository that docs/ci.md requires: prompts, their configuration, and a lock file for `npm ci`. */
async function makePromptRepository(address: string): Promise<string> {
  const repository = join(clone, 'prompt-repository')
  cpSync(join(clone, 'examples', 'prompts'), join(repository, 'prompts'), { recursive: true })
  const name = { name: 'prompts', version: '1.0.0' }
  writeFileSync(join(repository, 'package.json'), JSON.stringify({ ...name, private: true }))
  writeFileSync(
    join(repository, 'package-lock.json'),
    JSON.stringify({ ...name, lockfileVersion: 3, requires: true, packages: { '': name } }),
  )
  git(repository, 'init', '-q', '-b', 'main')
  await run('npx stet init --project 1 --dir prompts', repository, { ...at(address), STET_API_KEY: adminKey(clone) })
  rmSync(join(repository, '.home'), { recursive: true, force: true })
  commit(repository, 'Prompts')
  return repository
}

function changeReply(repository: string): void {
  const file = join(repository, 'prompts', 'support', 'reply.promptl')
  writeFileSync(file, readFileSync(file, 'utf8').replace('Never promise', 'Be friendly. Never promise'))
}

function liveReply(address: string): Promise<string> {
  return read(address, 'versions/live/documents/support/reply')
}

async function draftsOf(address: string, name: string): Promise<number> {
  const drafts: { title: string }[] = JSON.parse(await read(address, 'versions?status=draft'))
  return drafts.filter(({ title }) => title === name).length
}

async function read(address: string, path: string): Promise<string> {
  const response = await fetch(`${address}/api/v3/projects/1/${path}`, {
    headers: { authorization: `Bearer ${adminKey(clone)}` },
  })
  return response.text()
}

async function walkOwnProject(address: string): Promise<void> {
  // The command that starts this server creates the folder.
  const own = join(clone, 'my-bot')
  readme.write('prompts/support/triage.promptl', own)
  await runAll(readme.commands('own client'), own, address)
  readme.write('app.mts', own)
  const answer = await runAll(readme.commands('own application'), own, address)
  if (!/^(urgent|can wait): (bug|billing|other)\n$/.test(answer)) throw new Error(`the application said: ${answer}`)
}

/** Walks docs/moving.md with files of the discontinued service and a new server's empty project 1. */
async function walkMoving(address: string): Promise<void> {
  const old = join(clone, 'old-application')
  mkdirSync(join(old, 'prompts', 'support'), { recursive: true })
  git(old, 'init', '-q')
  mkdirSync(join(old, '.stet'))
  cpSync(join(clone, 'my-bot', '.stet', 'admin.key'), join(old, '.stet', 'admin.key'))
  const text = '---\nprovider: OpenAI\nmodel: gpt-6-luna\n---\n\n<user>\n  {{ ticket }}\n</user>\n'
  writeFileSync(join(old, 'prompts', 'support', 'reply.promptl'), text)
  await runAll(openDocument(clone, 'docs/moving.md').commands('moving'), old, address)
  await run('npx stet status --check', old, at(address))
  say('docs/moving.md')
}

async function runAll(commands: readonly string[], cwd: string, address: string): Promise<string> {
  let said = ''
  for (const command of commands) said = await run(command, cwd, at(address))
  return said
}

function at(address: string): NodeJS.ProcessEnv {
  return { STET_BASE_URL: address }
}

function adminKey(server: string): string {
  return readFileSync(join(server, '.stet', 'admin.key'), 'utf8').trim()
}

function commit(repository: string, message: string): void {
  git(repository, 'add', '-A')
  git(repository, '-c', 'user.name=walk', '-c', 'user.email=walk@example.com', 'commit', '-q', '-m', message)
}

function git(repository: string, ...args: string[]): string {
  return execFileSync('git', args, { cwd: repository, encoding: 'utf8' }).trim()
}
