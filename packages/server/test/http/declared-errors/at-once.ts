/** Causes that affect the whole server, so that every route reports them. */
import { hash } from 'node:crypto'
import type { ErrorCause } from '@stet/contract'
import { generateApiKey } from '../../../src/features/access/api-key.ts'
import { keepEvaluating } from '../../templates/support/keep-evaluating.ts'
import { type ApiAnswer, httpCall } from '../api-call.ts'
import { fill, type WalkedRoute } from '../contract-routes.ts'
import { createTestProject, issueKey, type Opened, openServer } from '../scenario.ts'
import { callWhileDraining } from './draining.ts'
import { consoleMark, type RouteRequest, send, successOf } from './requests.ts'
import type { World } from './world.ts'

export interface Servers {
  world: World
  /** Allows one failed authentication per address, and 1 MB in a workspace. */
  strict: Opened
}

/** Returns one response per route, in order. */
type AtOnce = (routes: readonly WalkedRoute[], servers: Servers) => Promise<ApiAnswer[]>

export const atOnce: Partial<Record<ErrorCause, AtOnce>> = {
  'server-stopping': callWhileDraining,
  'too-many-evaluations': callWhileEvaluating,
  // PostgreSQL's codes for a server that is starting and for a data file that cannot grow.
  'database-unavailable': (routes, { strict }) => callWhileFailing(routes, strict, '57P03'),
  'disk-full': (routes, { strict }) => callWhileFailing(routes, strict, '53100'),
  'failed-authentications': async (routes, { strict }) => {
    const call = (route: WalkedRoute) => callWith(strict.server.url, generateApiKey(), route)
    // The state lasts ten seconds from the first failure. If it ends meanwhile, one more request gets 401.
    let answers = await Promise.all(routes.map(call))
    while (answers.some(({ status }) => status === 401)) answers = await Promise.all(routes.map(call))
    return answers
  },
  unforeseen: callWithoutTables,
  // The last use of this server: its workspace stays full until the next measurement.
  'workspace-full': async (routes, { strict: { server, key } }) => {
    server.deps.storage?.use.add(1, 1_073_741_824)
    return Promise.all(routes.map((route) => callWith(server.url, key, route)))
  },
}

/** Calls while the table of keys fails with this code of PostgreSQL. */
async function callWhileFailing(routes: readonly WalkedRoute[], { server, api }: Opened, code: string) {
  const key = await issueKey(api, { scopes: ['admin'] })
  const { session } = server.database
  await session.query(`CREATE FUNCTION failing() RETURNS boolean LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'failing' USING ERRCODE = '${code}'; END $$`)
  await session.query('ALTER TABLE api_key RENAME TO api_key_kept')
  await session.query('CREATE VIEW api_key AS SELECT * FROM api_key_kept WHERE failing()')
  const answers = await Promise.all(routes.map((route) => callWith(server.url, key, route)))
  await session.query('DROP VIEW api_key')
  await session.query('ALTER TABLE api_key_kept RENAME TO api_key')
  await session.query('DROP FUNCTION failing')
  return answers
}

/** Causes unforeseen failures by removing the tables during valid requests. */
async function callWithoutTables(routes: readonly WalkedRoute[], { world }: Servers): Promise<ApiAnswer[]> {
  const requests: RouteRequest[] = []
  for (const route of routes) requests.push(await successOf(world, route))
  const { database, deps } = world.bench.server
  await database.session.query('ALTER SCHEMA public RENAME TO elsewhere')
  // Some routes need no table while the workspace's list of providers is cached.
  await deps.liveCache.drop('workspace:1')
  const answers = await Promise.all(routes.map((route, place) => send(world, route, requests[place])))
  await database.session.query('ALTER SCHEMA elsewhere RENAME TO public')
  return answers
}

async function callWhileEvaluating(routes: readonly WalkedRoute[]): Promise<ApiAnswer[]> {
  const { server, api } = await openServer({ STET_MAX_EVALUATIONS_PER_KEY: '1' })
  // A push does not compile, so reading these texts needs an evaluation. They are too long for the server's own thread.
  const long = ' {{ a.b }}'.padEnd(20_000, 'x')
  const [base, top, bottom] = [`1\n\n${long}\n\n1`, `2\n\n${long}\n\n1`, `1\n\n${long}\n\n2`]
  const project = await createTestProject(api, { live: 'x', merged: base })
  const [draft, other] = [await project.newDraft(), await project.newDraft()]
  const change = (content: string) => ({ path: 'merged', status: 'modified', content, baseHash: hash('sha256', base) })
  await api('POST', `${draft}/push`, { body: { changes: [change(top)] } })
  await api('POST', `${other}/push`, { body: { changes: [change(bottom)] } })
  await api('POST', `${other}/publish`)
  const changes = ['one', 'two', 'three'].map((path) => ({ path, content: path + long, status: 'added' }))
  await api('POST', `${draft}/push`, { body: { changes } })
  const key = await issueKey(api, { scopes: ['admin'] })
  const me = await httpCall('GET', `${server.url}/api/v3/me`, { headers: { authorization: `Bearer ${key}` } })
  const { apiKey } = me.body as unknown as { apiKey: { id: number } }
  const busy = keepEvaluating(server.deps.templates, { workspaceId: 1, apiKeyId: apiKey.id })
  const address = { projectId: String(project.id), versionUuid: String(draft.split('/').at(-1)) }
  const answers = await Promise.all(
    routes.map((route) => {
      const path = fill(route.path, { ...address, path: 'three' })
      const document = { path: route.name === 'documents.create' ? 'new' : 'two', prompt: `New${long}`, messages: [] }
      const added = { path: 'new', content: `New${long}`, status: 'added' }
      const isCreation = route.name === 'versions.create'
      const version = { name: 'new', changes: [isCreation ? added : change(bottom)], publish: {} }
      const items = [{ path: 'merged', prompt: bottom, baseHash: hash('sha256', base) }]
      const move = { from: 'two', to: 'new' }
      const arms = [{ versionUuid: address.versionUuid }]
      const judge = { projectId: project.id, type: 'judge', judge: 'three' }
      const body = {
        ...document,
        ...version,
        ...move,
        ...judge,
        arms,
        items,
        ...(/push|publish/.test(route.path) && { merge: true }),
      }
      return httpCall(route.method, `${server.url}/api/v3${path}`, {
        headers: { authorization: `Bearer ${key}` },
        ...(route.method === 'GET' ? {} : { body }),
      })
    }),
  )
  await busy.stop()
  await server.close()
  return answers
}

function callWith(url: string, key: string, { name, method, prefix, path }: WalkedRoute): Promise<ApiAnswer> {
  const headers = { authorization: `Bearer ${key}`, ...consoleMark }
  // Signing in takes the key from the body.
  const body = name === 'console.signIn' ? { apiKey: key } : undefined
  return httpCall(method, `${url}${prefix}${fill(path)}`, { headers, body })
}
