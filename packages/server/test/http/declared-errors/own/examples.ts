import { randomUUID } from 'node:crypto'
import type { ApiAnswer } from '../../api-call.ts'
import { type Scenario, to } from '../scenario.ts'
import { newName, type World } from '../world.ts'

const create = ({ project, documentUuid, ...world }: World, body: Record<string, unknown>) =>
  to(
    'examples.create',
    { project, documentUuid, ...world },
    { ids: { projectId: String(project.id) }, body: { documentUuid, name: newName(), parameters: {}, ...body } },
  )

const batch = ({ project, documentUuid, ...world }: World, body: Record<string, unknown>) =>
  to(
    'examples.batch',
    { project, documentUuid, ...world },
    { ids: { projectId: String(project.id) }, body: { documentUuid, changes: [{ name: newName() }], ...body } },
  )

export const exampleCauses: Record<string, Scenario> = {
  'examples.create unknown-document-uuid': (world) => create(world, { documentUuid: randomUUID() }),
  'examples.create example-name-taken': async (world) => {
    const name = newName()
    await world.newExample(name)
    return create(world, { name })
  },
  'examples.create too-many-examples': (world) => besideLargeExample(world, () => create(world, {})),
  'examples.batch unknown-document-uuid': (world) => batch(world, { documentUuid: randomUUID() }),
  'examples.batch too-many-examples': (world) => besideLargeExample(world, () => batch(world, {})),
  'examples.fromRuns too-many-examples': async (world) => {
    const ids = { projectId: String(world.project.id), versionUuid: 'live' }
    const { body } = await to('runs.run', world, { ids, body: { path: 'hello', parameters: { name: 'Ada' } } })
    const { uuid } = (await world.bench.api('GET', `/runs/${String(body['uuid'])}`)).body
    return besideLargeExample(world, () => to('examples.fromRuns', world, { ids, body: { runs: [uuid] } }))
  },
  'examples.update too-many-examples': async (world) => {
    const small = await world.newExample()
    return besideLargeExample(world, () => to('examples.update', world, { ids: small, body: { name: newName() } }))
  },
  'examples.update example-name-taken': async (world) => {
    const name = newName()
    await world.newExample(name)
    return to('examples.update', world, { ids: await world.newExample(), body: { name } })
  },
}

/** Calls while the prompt has an example that is larger than a body of this server may be. */
async function besideLargeExample(world: World, call: () => Promise<ApiAnswer>): Promise<ApiAnswer> {
  const large = await world.newExample()
  const { session } = world.bench.server.database
  const sql = "UPDATE example SET parameters = json_build_object('k', repeat('x', 16777216)) WHERE uuid = $1"
  await session.query(sql, [large.exampleUuid])
  const answer = await call()
  await to('examples.delete', world, { ids: large })
  return answer
}
