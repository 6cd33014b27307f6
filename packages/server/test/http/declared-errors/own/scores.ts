import { type Scenario, to } from '../scenario.ts'
import { newName, type World } from '../world.ts'

const unknownUuid = '00000000-0000-4000-8000-000000000000'

const annotate = (world: World, body: Record<string, unknown>, conversationUuid = world.conversationUuid) =>
  to('evaluations.annotate', world, { ids: { conversationUuid, evaluationUuid: world.evaluationUuid }, body })

export const scoreCauses: Record<string, Scenario> = {
  'evaluations.create unknown-project': (world) =>
    to('evaluations.create', world, { body: { projectId: 2_000_000_000, name: 'x', metric: 'binary' } }),
  'evaluations.create unknown-document-uuid': (world) => {
    const body = { projectId: world.project.id, documentUuid: unknownUuid, name: 'x', metric: 'binary' }
    return to('evaluations.create', world, { body })
  },
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
    const [builtIn] = (given.body as unknown as { uuid: string; name: string }[]).filter(
      ({ name }) => name === 'Feedback',
    )
    return annotate({ ...world, evaluationUuid: String(builtIn?.uuid) }, { score: 1 })
  },
}
