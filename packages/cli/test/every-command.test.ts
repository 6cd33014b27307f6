import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Stet } from '@stet/sdk'
import { beforeAll, expect, test } from 'vitest'
import { exportProject } from '../src/commands/projects/archive/export-project.ts'
import { packArchive } from '../src/commands/projects/archive/write-archive.ts'
import { commandTable } from '../src/commands/table.ts'
import { projectWith, server } from './support/shared-server.ts'
import { temporaryFolder } from './support/temporary-folder.ts'
import { runInProcess } from './support/test-io.ts'

const token = 'sk-0123456789'
const messages = '[{"role":"user","content":"x"}]'
const promptText =
  '---\nprovider: demo\nmodel: demo\nparameters:\n  text: { type: text, required: true }\n---\n{{ text }}\n'

/** Objects that rows use. The rows are in such an order that a row deletes nothing that a later one uses. */
interface Made {
  conversation: string
  evaluation: string
  draft: string
  unused: string
  key: string
  provider: string
  project: { id: number; name: string }
  spare: string
  experiment: string
}

let client: Stet
let id: string
let made: Made
let archive: string
beforeAll(async () => {
  const { client: own, id: number } = await projectWith({ echo: promptText })
  ;[client, id] = [own, String(number)]
  const second = await client.versions.create('second')
  await client.versions.push(second.uuid, [{ path: 'echo', content: `${promptText}Twice.\n`, status: 'modified' }])
  await client.versions.publish(second.uuid)
  const [first] = await Promise.all(
    ['First', 'Second'].map((name) => client.evaluations.create({ name, metric: 'binary' })),
  )
  archive = await writeProjectArchive()
  const draft = await client.versions.create('open')
  await client.versions.push(draft.uuid, [{ path: 'echo', content: `${promptText}Thrice.\n`, status: 'modified' }])
  const { id: key } = await client.apiKeys.create({ name: 'spare', scopes: ['read'] })
  made = {
    conversation: (
      await client.prompts.run('echo', { stream: false, customIdentifier: 'first', parameters: { text: 'x' } })
    ).uuid,
    evaluation: first?.uuid ?? '',
    draft: draft.uuid,
    unused: (await client.versions.create('unused')).uuid,
    key: String(key),
    provider: (await client.providerKeys.create({ name: 'stored', provider: 'openai', token })).name,
    project: (await client.projects.create('spare')).project,
    spare: (await client.logs.create('echo', [])).uuid,
    experiment: await startExperiment(),
  }
})

async function startExperiment(): Promise<string> {
  const { documentUuid } = await client.prompts.get('echo')
  const checks = [{ type: 'contains' as const, any: ['demo'] }]
  await client.examples.create({ documentUuid, name: 'first', parameters: { text: 'x' }, checks })
  return (await client.experiments.create({ path: 'echo', arms: [{ versionUuid: 'live' }] })).uuid
}

async function writeProjectArchive(): Promise<string> {
  const file = join(await temporaryFolder(), 'project.stet.gz')
  const { project } = await client.projects.create('archived')
  const whole = await exportProject(client, project, () => undefined)
  await client.projects.delete(project.id, project)
  await writeFile(file, packArchive(whole))
  return file
}

interface Row {
  argv(made: Made): string[]
  stdin?: string
  /** The keys of the JSON document, or of the result after the events. */
  keys: string
  /** Incomplete command lines, and the flag or argument that each error must name. */
  lacking?: [argv: (made: Made) => string[], named: string][]
}

const resultKeys = 'conversation cost response source tokenUsage toolRequests uuid'
const runKeys =
  'apiKey author conversationUuid cost createdAt customIdentifier documentUuid durationMs endedAt error eventsKept feedback finishReason firstEventId firstTokenMs givenCount givenFrom isUsageEstimated lastEventId mode model overrides parametersState path projectId provider queuedMs startedAt status tags tokenUsage uuid versionUuid via'
const resultOfEval = 'code gates results verdict'
const experimentKeys =
  'arms author budgetUsd concurrency costUsd counts createdAt documentUuid estimateUsd evaluations finishedAt isStale maxRuns origin path projectId reason state tag trials uuid'
const keyKeys = 'author createdAt expiresAt id lastUsedAt limit name plan prefix projectId revokedAt scopes'
const entryKeys = 'configuration createdAt defaultModel id lastUsedAt name provider token updatedAt url'

/** Excludes `serve` and `runs tail`, which do not end and have their own tests. */
const rows: Record<string, Row> = {
  login: {
    argv: () => ['--api-key-stdin'],
    stdin: 'KEY',
    keys: 'baseUrl file keyName prefix profile scopes workspace',
    lacking: [[() => [], '--api-key-stdin']],
  },
  logout: { argv: () => [], keys: 'removed' },
  whoami: { argv: () => [], keys: 'expiresAt key profile project scopes server version workspace' },
  init: {
    argv: () => ['--create', 'made'],
    keys: 'hasExample project pull version written',
    lacking: [[() => [], '--project']],
  },
  status: { argv: () => [], keys: 'entries project refused version' },
  diff: { argv: () => [], keys: 'files' },
  push: {
    argv: () => ['--new', '--name', 'sent'],
    keys: 'changes durationMs errors isDry isNewDraft issues refused required version',
  },
  mv: { argv: () => ['mine', 'yours'], keys: 'moved' },
  pull: { argv: () => [], keys: 'changes counts refused version' },
  publish: {
    argv: ({ draft }) => [draft, '--check'],
    keys: 'changes gates isPublished version',
    lacking: [
      [() => [], 'stet publish <version>'],
      [({ draft }) => [draft], '--yes'],
    ],
  },
  rollback: { argv: () => ['1', '--dry-run'], keys: 'changes release target', lacking: [[() => ['1'], '--yes']] },
  revert: {
    argv: ({ draft }) => ['-V', draft, '--yes'],
    keys: 'reverted versionUuid',
    lacking: [
      [() => [], '--version-uuid'],
      [({ draft }) => ['-V', draft], '--yes'],
    ],
  },
  run: {
    argv: () => ['echo', '-p', 'text=hi'],
    keys: resultKeys,
    lacking: [[() => ['echo'], '-p text=']],
  },
  'runs list': { argv: () => ['--limit', '1'], keys: 'nextCursor runs scannedTo' },
  'runs show': {
    argv: ({ conversation }) => [conversation, '--messages'],
    keys: `${runKeys} messageRange messages note parameters spans spansCut`,
  },
  // One run, until a later row continues its conversation.
  'runs export': { argv: () => ['--id', 'first'], keys: `${runKeys} messages parameters` },
  'runs tag': {
    argv: ({ conversation }) => [conversation, 'checked'],
    keys: 'note tags uuid',
    lacking: [[({ conversation }) => [conversation], '--clear']],
  },
  chat: {
    argv: ({ conversation }) => [conversation, '-m', 'more'],
    keys: resultKeys,
    lacking: [
      [() => [], 'stet chat <uuid>'],
      [({ conversation }) => [conversation], '-m <text>'],
    ],
  },
  attach: { argv: ({ conversation }) => [conversation], keys: resultKeys },
  stop: {
    argv: ({ conversation }) => [conversation],
    keys: 'status stopped uuid',
  },
  bench: {
    argv: () => ['echo', '-p', 'text=hi', '--runs', '2'],
    keys: 'concurrency cost errors failed firstText generator interruptedBy latency mode path runs runsPerSecond seconds servers stopped stream versionUuid warmUp',
    lacking: [[() => ['echo', '--yes'], '-p text=']],
  },
  eval: { argv: () => ['echo'], keys: resultOfEval },
  'eval list': { argv: () => [], keys: 'experiments' },
  'eval watch': { argv: ({ experiment }) => [experiment], keys: resultOfEval },
  'eval show': { argv: ({ experiment }) => [experiment], keys: resultOfEval },
  'eval stop': { argv: ({ experiment }) => [experiment], keys: experimentKeys },
  'eval resume': { argv: ({ experiment }) => [experiment], keys: resultOfEval },
  'prompts list': { argv: () => [], keys: 'prompts' },
  'versions list': { argv: () => [], keys: 'current versions' },
  'versions show': { argv: () => ['live'], keys: 'changes version' },
  'versions create': { argv: () => ['made'], keys: 'isUsed version' },
  'versions rename': { argv: ({ unused }) => [unused, 'renamed'], keys: 'version' },
  'versions delete': {
    argv: () => ['renamed', '--yes'],
    keys: 'version',
    lacking: [[({ draft }) => [draft], '--yes']],
  },
  'versions restore': { argv: ({ unused }) => [unused], keys: 'version' },
  // Moves the lock, so it needs one.
  'versions use': { argv: () => ['live', '--force'], keys: 'pull version', lacking: [[() => ['live'], 'stet init']] },
  'conversations list': { argv: () => [], keys: 'conversations' },
  'conversations get': {
    argv: ({ conversation }) => [conversation],
    keys: 'contentHash conversation cost createdAt customIdentifier documentUuid endedAt error origin path projectId source status tokenUsage toolRequests updatedAt uuid versionUuid via',
  },
  'conversations delete': {
    argv: ({ spare }) => [spare, '--yes'],
    keys: 'uuid',
    lacking: [[({ conversation }) => [conversation], '--yes']],
  },
  'conversations erase': {
    argv: () => ['--custom-identifier', 'nobody', '--yes'],
    keys: 'active deleted',
    lacking: [
      [() => [], '--custom-identifier'],
      [() => ['--custom-identifier', 'nobody'], '--yes'],
    ],
  },
  'logs create': {
    argv: () => ['echo', '--messages', '-'],
    stdin: messages,
    keys: 'commitId completionSpan contentHash createdAt customIdentifier documentUuid duration id parameters promptSpan resolvedContent source updatedAt uuid',
    lacking: [[() => ['echo'], '--messages']],
  },
  annotate: {
    argv: ({ conversation, evaluation }) => [conversation, '1', '--evaluation', evaluation],
    keys: 'annotation evaluation',
    lacking: [[({ conversation }) => [conversation, '1'], '--evaluation']],
  },
  'evaluations create': {
    argv: () => ['Third', '--metric', 'binary'],
    keys: 'archivedAt builtIn checks configuration createdAt description documentUuid judgeDocumentUuid metric name projectId type updatedAt uuid',
    lacking: [[() => ['x'], '--metric']],
  },
  'evaluations list': { argv: () => [], keys: 'evaluations' },
  'examples import': {
    argv: () => ['rows.csv', 'echo'],
    keys: 'added deleted left losses modified path unchanged',
  },
  'examples export': { argv: () => ['echo'], keys: 'examples file path' },
  'examples list': { argv: () => ['echo'], keys: 'examples path' },
  'keys create': { argv: () => ['ci', '--scopes', 'read'], keys: `${keyKeys} key` },
  'keys list': { argv: () => [], keys: 'keys' },
  'keys rotate': {
    argv: ({ key }) => [key, '--overlap', '1h'],
    keys: `${keyKeys} key`,
    lacking: [[({ key }) => [key], '--overlap']],
  },
  'keys revoke': {
    argv: ({ key }) => [key, '--yes'],
    keys: keyKeys,
    lacking: [[({ key }) => [key], '--yes']],
  },
  'providers add': {
    argv: () => ['more', '--type', 'openai', '--token-stdin'],
    stdin: token,
    keys: entryKeys,
    lacking: [
      [() => ['x'], '--type'],
      [() => ['x', '--type', 'openai'], '--token-stdin'],
    ],
  },
  'providers list': { argv: () => [], keys: 'providers' },
  'providers test': {
    argv: () => ['demo'],
    keys: 'durationMs error firstTokenMs model ok provider text',
  },
  'providers update': {
    argv: ({ provider }) => [provider, '--default-model', 'm'],
    keys: entryKeys,
    lacking: [[({ provider }) => [provider], '--token-stdin']],
  },
  'providers remove': {
    argv: ({ provider }) => [provider, '--yes'],
    keys: entryKeys,
    lacking: [[({ provider }) => [provider], '--yes']],
  },
  'projects list': { argv: () => [], keys: 'current projects' },
  'projects create': { argv: () => ['made'], keys: 'project version' },
  'projects update': {
    argv: ({ project }) => [String(project.id), '--retention-days', '30'],
    keys: 'createdAt defaultModel defaultProvider deletedAt id keepParameters lastEditedAt liveVersionUuid name retentionDays updatedAt workspaceId',
    lacking: [[({ project }) => [String(project.id)], '--retention-days']],
  },
  'projects export': {
    argv: ({ project }) => [String(project.id), 'made.stet.gz'],
    keys: 'bytes drafts evaluations examples file project prompts skipped versions',
  },
  'projects import': {
    argv: () => [archive],
    keys: 'drafts evaluations examples isContinued project versions',
  },
  'projects delete': {
    argv: ({ project }) => [String(project.id), '--confirm-name', project.name],
    keys: 'id',
    lacking: [[({ project }) => [String(project.id), '--yes'], '--confirm-name']],
  },
  'skill install': { argv: () => [], keys: 'file status' },
  'config list': { argv: () => [], keys: 'files profiles values' },
  check: { argv: () => ['--local'], keys: 'checked differences problems refused types' },
  'types generate': { argv: () => [], keys: 'file isCurrent prompts' },
  import: {
    argv: () => ['openai', 'openai.json', '--dry-run'],
    keys: 'files losses',
    lacking: [[() => ['latitude', 'https://example.com/api/v3/projects/1'], '--source-key-stdin']],
  },
  export: { argv: () => ['--out', 'out.json'], keys: 'files prompts refused', lacking: [[() => [], '--out']] },
  doctor: { argv: () => [], keys: 'findings isHealthy' },
  console: {
    argv: () => [`/p/${id}/history`, '--no-open'],
    keys: 'expiresAt url',
    lacking: [[() => ['p'], '/p/1/history']],
  },
  completion: { argv: () => ['bash'], keys: 'script shell' },
}

/** Has a prompt file, and a key and a project in the environment, but no stet files. */
async function someone(name: string, argv: readonly string[], stdin = '') {
  const cwd = await temporaryFolder()
  await mkdir(join(cwd, '.git'))
  await mkdir(join(cwd, 'prompts'))
  await writeFile(join(cwd, 'prompts', 'mine.promptl'), 'Mine.\n')
  await writeFile(join(cwd, 'rows.csv'), 'text,expected\nhi,Hi\n')
  await writeFile(join(cwd, 'openai.json'), '{"id":"p","model":"m","instructions":"Hi"}')
  const isFree = name === 'login' || name === 'init'
  const given = {
    cwd,
    env: {
      STET_BASE_URL: server.address,
      XDG_CONFIG_HOME: join(cwd, '.config'),
      XDG_STATE_HOME: join(cwd, '.state'),
      ...(name !== 'login' && { STET_API_KEY: server.adminKey }),
      ...(!isFree && { STET_PROJECT_ID: id }),
    },
    readStdin: async () => new TextEncoder().encode(stdin.replace('KEY', server.adminKey)),
  }
  if (name === 'versions use' && argv.includes('--json')) await runInProcess(['init', '--no-pull'], given)
  return runInProcess([...name.split(' '), ...argv], given)
}

test('the rows cover every command', () => {
  expect([...Object.keys(rows), 'serve', 'mcp', 'runs tail'].sort()).toEqual(Object.keys(commandTable).sort())
})

test.each(Object.entries(rows))(
  '%s works without stet files, prints the expected JSON keys, and never prompts',
  async (name, row) => {
    for (const [argv, named] of row.lacking ?? []) {
      const ended = await someone(name, argv(made))
      expect(ended).toMatchObject({ code: 2, stdout: '' })
      expect(ended.stderr).toContain(named)
    }
    const { code, stdout, stderr } = await someone(name, [...row.argv(made), '--json', '--debug'], row.stdin)
    expect(code).toBe(0)
    for (const secret of [server.adminKey, token]) expect(stdout + stderr).not.toContain(secret)
    const last = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '')
    const document = last.event === 'result' ? last.data : last
    expect(Object.keys(document).sort()).toEqual(row.keys.split(' ').sort())
    if (document === last) expect(stdout.trimEnd().split('\n')).toHaveLength(1)
  },
)
