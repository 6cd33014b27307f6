import { randomUUID } from 'node:crypto'
import { type Scenario, to } from '../scenario.ts'
import { newName, type World } from '../world.ts'

const create = ({ project, documentUuid, ...world }: World, body: Record<string, unknown>) =>
  to(
    'examples.create',
    { project, documentUuid, ...world },
    { ids: { projectId: String(project.id) }, body: { documentUuid, name: newName(), parameters: {}, ...body } },
  )

export const exampleCauses: Record<string, Scenario> = {
  'examples.create unknown-document-uuid': (world) => create(world, { documentUuid: randomUUID() }),
  'examples.create example-name-taken': async (world) => {
    const name = newName()
    await world.newExample(name)
    return create(world, { name })
  },
  'examples.create too-many-examples': async (world) => {
    const body = { path: newName() }
    const draft = { projectId: String(world.project.id), versionUuid: await world.newDraft() }
    const { uuid: documentUuid } = (await to('documents.create', world, { ids: draft, body })).body
    for (let count = 0; count < 200; count += 1) await create(world, { documentUuid })
    return create(world, { documentUuid })
  },
  'examples.update too-many-examples': async (world) => {
    const [large, small] = [await world.newExample(), await world.newExample()]
    const { session } = world.bench.server.database
    // Larger than a body of this server may be.
    const sql = "UPDATE example SET parameters = json_build_object('k', repeat('x', 4194304)) WHERE uuid = $1"
    await session.query(sql, [large.exampleUuid])
    const answer = await to('examples.update', world, { ids: small, body: { name: newName() } })
    await to('examples.delete', world, { ids: large })
    return answer
  },
  'examples.update example-name-taken': async (world) => {
    const name = newName()
    await world.newExample(name)
    return to('examples.update', world, { ids: await world.newExample(), body: { name } })
  },
}
