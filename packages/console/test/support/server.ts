/** A stet server with the built console, a fake provider and a project. */
import { generateApiKey } from '../../../server/src/features/access/api-key.ts'
import { createTestProject, issueKey } from '../../../server/test/http/scenario.ts'
import { type ServedProject, servedProject } from '../../../server/test/support/served-project.ts'
import { settingsFor, startServer } from '../../../server/test/support/server-process.ts'
import { testDatabase } from '../../../server/test/support/test-database.ts'
import { leaveToTeardown } from './teardown.ts'

export type Scope = 'read' | 'run' | 'write' | 'publish' | 'admin'

export interface EmptyServer {
  key: string
  address(path: string): string
  close(): Promise<void>
}

export interface ConsoleServer extends Omit<ServedProject, keyof Lifecycle> {
  /** The address of a page, for example `/settings/keys`. */
  address(path: string): string
  /** The address of a prompt of the live version, or of another one. */
  promptAddress(path: string, version?: string): string
  /** The answer to a GET with the key of the project. */
  read<Answer>(path: string): Promise<Answer>
  /** A new key with these scopes. Every key belongs to an author of its own if `author` is set. */
  newKey(scopes: readonly Scope[], author?: { name: string; email: string }): Promise<string>
}

type Lifecycle = Pick<ServedProject, 'kill' | 'start' | 'stop' | 'close' | 'storage'>

/** A server process that no other test file uses. */
export interface OwnServer extends ConsoleServer, Lifecycle {}

/** A server as a new user has it: no project, no provider key. */
export async function emptyServer(environment: Record<string, string> = {}): Promise<EmptyServer> {
  const storage = await testDatabase()
  const key = generateApiKey()
  const server = await startServer({ ...settingsFor(storage), STET_ADMIN_KEY: key, ...environment })
  return {
    key,
    address: (path) => `${server.url}${path}`,
    async close() {
      server.child.kill('SIGTERM')
      await server.ended
      await storage.close()
    },
  }
}

/** A link that signs in once with a key. The default is the admin key of the server. */
export async function signInLink(server: Pick<ConsoleServer, 'address' | 'key'>, key = server.key): Promise<string> {
  const response = await fetch(server.address('/console/links'), {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: '{"ttlSeconds":600}',
  })
  const { url } = (await response.json()) as { url: string }
  // The printed host may be another name of the same server.
  const { pathname, hash } = new URL(url)
  return server.address(pathname + hash)
}

/** @param prompts the texts of the live version, by path */
export async function consoleServer(
  prompts: Record<string, string> = {},
  environment: Record<string, string> = {},
  execArgv?: readonly string[],
): Promise<OwnServer> {
  return withConsole(await servedProject(prompts, environment, execArgv))
}

let shared: Promise<ServedProject> | undefined

/** A new project on the one server of this worker process. Without pending replies of the provider. */
export async function sharedServer(prompts: Record<string, string> = {}): Promise<ConsoleServer> {
  shared ??= startShared()
  const served = await shared
  served.fake.clear()
  return withConsole({ ...served, project: await createTestProject(served.api, prompts) })
}

async function startShared(): Promise<ServedProject> {
  // The runs of `reconnect` outlive the time after which the page stops trying by itself.
  const served = await servedProject({}, { STET_GRACE_MS: '300000', STET_ALLOWED_PRIVATE_HOSTS: '127.0.0.1' })
  const { dataDir, databaseUrl } = served.storage
  leaveToTeardown({ pid: served.server.child.pid, dataDir, databaseUrl })
  return served
}

function withConsole<Served extends Pick<ServedProject, 'server' | 'project' | 'api'>>(served: Served) {
  const address = (path: string) => `${served.server.url}${path}`
  return Object.assign(served, {
    address,
    promptAddress: (path: string, version = 'live') =>
      address(`/p/${served.project.id}/v/${version}/prompts/${path.split('/').map(encodeURIComponent).join('/')}`),
    read: async <Answer>(path: string) => (await served.api<Answer>('GET', path)).body,
    newKey: (scopes: readonly Scope[], author?: { name: string; email: string }) =>
      issueKey(served.api, { scopes: [...scopes], plan: 'custom', limit: 100_000, ...(author && { author }) }),
  })
}

/** 1,000 prompts in folders of up to six levels. */
export function thousandPrompts(): Record<string, string> {
  const pathOf = (index: number) => `area-${index % 4}/team-${index % 8}/topic-${index % 16}/kind-${index % 64}`
  return Object.fromEntries(
    Array.from({ length: 1000 }, (_, index) => [
      `${pathOf(index)}/case-${index % 128}/prompt-${index}`,
      'Write about it for {{ name }}.',
    ]),
  )
}
