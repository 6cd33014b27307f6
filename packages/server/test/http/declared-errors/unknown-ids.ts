/** Causes in a path's ids and their versions, which all routes produce in the same way. */
import type { ErrorCause } from '@stet/contract'
import { validBody, type WalkedRoute } from '../contract-routes.ts'
import { send } from './requests.ts'
import { inDraft, inLive, type Scenario } from './scenario.ts'

const body = (route: WalkedRoute) => validBody[route.name] ?? {}

export const unknownIds: Partial<Record<ErrorCause, Scenario>> = {
  'unknown-project': (world, route) => send(world, route, { body: body(route) }),
  'unknown-version': (world, route) =>
    send(world, route, { ids: { projectId: String(world.project.id) }, body: body(route) }),
  'nothing-live': (world, route) =>
    send(world, route, {
      ids: { projectId: String(world.unpublished.id), versionUuid: 'live' },
      body: body(route),
    }),
  'unknown-environment': (world, route) =>
    send(world, route, { ids: { projectId: String(world.project.id) }, body: body(route) }),
  'unknown-document': async (world, route) => send(world, route, { ids: await inDraft(world), body: body(route) }),
  'unknown-conversation': (world, route) => send(world, route, { body: body(route) }),
  'unknown-run': (world, route) => send(world, route),
  'unknown-evaluation': ({ conversationUuid, ...world }, route) =>
    send({ conversationUuid, ...world }, route, { ids: { conversationUuid }, body: body(route) }),
  'unknown-example': (world, route) =>
    send(world, route, { ids: { projectId: String(world.project.id) }, body: body(route) }),
  'unknown-experiment': (world, route) => send(world, route, { body: body(route) }),
  'unknown-api-key': (world, route) => send(world, route, { body: body(route) }),
  'unknown-session': (world, route) => send(world, route),
  'unknown-provider-key': (world, route) => send(world, route, { body: body(route) }),
  'merged-version': (world, route) => send(world, route, { ids: inLive(world), body: body(route) }),
  'invalid-path': async (world, route) =>
    send(world, route, { ids: await inDraft(world), body: { ...body(route), path: 'no spaces' } }),
  'path-too-long': async (world, route) =>
    send(world, route, { ids: await inDraft(world), body: { ...body(route), path: 'x'.repeat(10_000) } }),
}
