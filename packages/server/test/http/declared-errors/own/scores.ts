import { Evaluation } from '@stet/contract'
import { type Scenario, to } from '../scenario.ts'
import { newName, type World } from '../world.ts'

const unknownUuid = '00000000-0000-4000-8000-000000000000'

const annotate = (world: World, body: Record<string, unknown>, conversationUuid = world.conversationUuid) =>
  to('evaluations.annotate', world, { ids: { conversationUuid, evaluationUuid: world.evaluationUuid }, body })

const judge = (world: World, path: string) =>
  to('evaluations.create', world, {
    body: { projectId: world.project.id, name: newName(), type: 'judge', judge: path },
  })

/** Calls while the project has as many evaluations as it may have. */
export async function besideMany(world: World, call: () => ReturnType<typeof to>) {
  const { session } = world.bench.server.database
  await session.query(
    `INSERT INTO evaluation (uuid, workspace_id, project_id, name, metric, configuration, created_at, updated_at)
     SELECT gen_random_uuid(), workspace_id, id, 'many', 'binary', '{}', now(), now() FROM project, generate_series(1, 1000)
     WHERE id = $1`,
    [world.project.id],
  )
  const answer = await call()
  await session.query(`DELETE FROM evaluation WHERE project_id = $1 AND name = 'many'`, [world.project.id])
  return answer
}

export const scoreCauses: Record<string, Scenario> = {
  'evaluations.create unknown-project': (world) =>
    to('evaluations.create', world, { body: { projectId: 2_000_000_000, name: 'x', metric: 'binary' } }),
  'evaluations.create unknown-document-uuid': (world) => {
    const body = { projectId: world.project.id, documentUuid: unknownUuid, name: 'x', metric: 'binary' }
    return to('evaluations.create', world, { body })
  },
  'evaluations.create unknown-document': (world) => judge(world, 'missing'),
  'evaluations.create not-a-judge': (world) => judge(world, 'hello'),
  'evaluations.create evaluation-limit': (world) =>
    besideMany(world, () => to('evaluations.create', world, { body: { projectId: world.project.id, name: 'x' } })),
  'evaluations.agreement no-judge': (world) =>
    to('evaluations.agreement', world, { ids: { evaluationUuid: world.evaluationUuid } }),
  'evaluations.queue unknown-evaluation': (world) =>
    to('evaluations.queue', world, {
      ids: { projectId: String(world.project.id) },
      query: `?evaluation=${unknownUuid}`,
    }),
  'evaluations.list unknown-project': (world) => to('evaluations.list', world, { query: '?projectId=2000000000' }),
  'evaluations.annotate unknown-version': (world) => annotate(world, { score: 3, versionUuid: unknownUuid }),
  'evaluations.annotate nothing-live': async (world) => {
    const { conversationUuid, evaluationUuid } = world.unpublished
    const ids = { conversationUuid, evaluationUuid }
    return to('evaluations.annotate', world, { ids, body: { score: 3, versionUuid: 'live' } })
  },
  'evaluations.annotate score-out-of-range': (world) => annotate(world, { score: 6 }),
  'evaluations.annotate score-not-binary': async (world) => {
    const binary = { projectId: world.project.id, name: newName(), metric: 'binary' }
    const { body } = await to('evaluations.create', world, { body: binary })
    return annotate({ ...world, evaluationUuid: String(body['uuid']) }, { score: 0.5 })
  },
  'evaluations.annotate built-in-evaluation': async (world) => {
    const ids = { conversationUuid: world.conversationUuid }
    await to('conversations.feedback', world, { ids, body: { value: 'up' } })
    const given = await to('evaluations.list', world, { query: `?projectId=${world.project.id}` })
    const builtIn = Evaluation.array()
      .parse(given.body)
      .find(({ name }) => name === 'Feedback')
    return annotate({ ...world, evaluationUuid: String(builtIn?.uuid) }, { score: 1 })
  },
}
