/** Causes that lie in the whole server: one that is in that state answers every route. */
import type { ErrorCause } from '@stet/contract'
import { generateApiKey } from '../../../src/features/access/api-key.ts'
import { type ApiAnswer, httpCall } from '../api-call.ts'
import { fill, type WalkedRoute } from '../contract-routes.ts'
import { issueKey, openServer } from '../scenario.ts'
import { callWhileDraining } from './draining.ts'

/** One answer for each route, in their order. */
type AtOnce = (routes: readonly WalkedRoute[]) => Promise<ApiAnswer[]>

export const atOnce: Partial<Record<ErrorCause, AtOnce>> = {
  stopping: callWhileDraining,
  'failed-authentications': async (routes) => {
    const { server } = await openServer({ STET_AUTH_FAILURE_LIMIT: '1' })
    const call = (route: WalkedRoute) => callWith(server.url, generateApiKey(), route)
    // From the first failure on for ten seconds: when they end meanwhile, another failure is let through.
    let answers = await Promise.all(routes.map(call))
    while (answers.some(({ status }) => status === 401)) answers = await Promise.all(routes.map(call))
    await server.close()
    return answers
  },
  'database-away': async (routes) => {
    const { server, api } = await openServer({ STET_LOG_LEVEL: 'off' })
    const key = await issueKey(api, { scopes: ['admin'] })
    const { session } = server.database
    // What a database that is starting says to every statement that asks for a key.
    await session.query(`CREATE FUNCTION away() RETURNS boolean LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'starting' USING ERRCODE = '57P03'; END $$`)
    await session.query('ALTER TABLE api_key RENAME TO api_key_kept')
    await session.query('CREATE VIEW api_key AS SELECT * FROM api_key_kept WHERE away()')
    const answers = await Promise.all(routes.map((route) => callWith(server.url, key, route)))
    await server.close()
    return answers
  },
}

function callWith(url: string, key: string, { method, path }: WalkedRoute): Promise<ApiAnswer> {
  return httpCall(method, `${url}/api/v3${fill(path)}`, { headers: { authorization: `Bearer ${key}` } })
}
