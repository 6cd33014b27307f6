import { randomUUID } from 'node:crypto'
import { itemOf } from '../requests.ts'
import { type Scenario, to } from '../scenario.ts'
import { newName, type World } from '../world.ts'
import { besideMany } from './scores.ts'

const live = [{ versionUuid: 'live' }]

const create = (world: World, body: Record<string, unknown>, projectId = world.project.id) =>
  to('experiments.create', world, {
    ids: { projectId: String(projectId) },
    body: { path: 'hello', arms: live, ...body },
  })

/** Creates with a row of its own. */
const createOne = async (world: World, body: Record<string, unknown> = {}) => {
  const { exampleUuid } = await world.newExample()
  return create(world, { examples: [exampleUuid], ...body })
}

/** Until the next look at running experiments, which are ten seconds apart. */
const runAgain = async ({ bench }: World, uuid: string) =>
  bench.server.database.session.query(`UPDATE experiment SET state = 'running' WHERE uuid = $1`, [uuid])

/** More than may run, so that the look which ends them does not make room at once. */
const manyRunning = async ({ bench, project }: World, call: () => ReturnType<typeof to>) => {
  const { session } = bench.server.database
  const key = newName()
  const { rows } = await session.query(
    `SELECT string_agg(quote_ident(column_name), ', ') AS names FROM information_schema.columns
     WHERE table_name = 'experiment' AND column_name NOT IN ('id', 'uuid', 'content_key', 'state', 'finished_at')`,
  )
  const names = String(rows[0]?.['names'])
  await session.query(
    `INSERT INTO experiment (uuid, content_key, state, ${names})
     SELECT gen_random_uuid(), $2 || n, 'running', ${names} FROM generate_series(1, 200) n,
       (SELECT * FROM experiment WHERE project_id = $1 ORDER BY id DESC LIMIT 1) e`,
    [project.id, key],
  )
  const answer = await call()
  await session.query(`DELETE FROM experiment WHERE content_key LIKE $1 || '%'`, [key])
  return answer
}

export const experimentCauses: Record<string, Scenario> = {
  'experiments.create unknown-version': (world) => createOne(world, { arms: [{ versionUuid: randomUUID() }] }),
  'experiments.create nothing-live': (world) => create(world, {}, world.unpublished.id),
  'experiments.create unknown-document': (world) => createOne(world, { path: 'unknown' }),
  'experiments.create unknown-example': (world) => create(world, { examples: [randomUUID()] }),
  'experiments.create unknown-evaluation': (world) => createOne(world, { evaluations: [randomUUID()] }),
  'experiments.create prompt-does-not-compile': (world) =>
    createOne(world, { path: 'broken', arms: [{ versionUuid: world.brokenDraft }] }),
  'experiments.create no-rows': (world) => create(world, { tag: 'no row has it' }),
  'experiments.create rows-do-not-fit': async (world) => {
    const { body } = await world.bench.api('GET', `${world.project.live}/documents/counting`)
    const row = { documentUuid: body['uuid'], name: newName(), parameters: {} }
    await world.bench.api('POST', `/projects/${world.project.id}/examples`, { body: row })
    return create(world, { path: 'counting' })
  },
  'experiments.create too-many-runs': (world) => createOne(world, { trials: 2, maxRuns: 1 }),
  'experiments.create budget-too-high': (world) => createOne(world, { budgetUsd: 21 }),
  'experiments.create experiment-active': async (world) => {
    const { exampleUuid } = await world.newExample()
    const first = await create(world, { examples: [exampleUuid] })
    await runAgain(world, String(first.body['uuid']))
    return create(world, { examples: [exampleUuid] })
  },
  'experiments.create too-many-experiments': async (world) => {
    await world.newExperiment()
    return manyRunning(world, () => createOne(world))
  },
  'experiments.resume too-many-experiments': async (world) => {
    const ids = await world.newExperiment()
    return manyRunning(world, () => to('experiments.resume', world, { ids, body: {} }))
  },
  'experiments.report unknown-evaluation': async (world) =>
    to('experiments.report', world, { ids: await world.newExperiment(), query: `?evaluation=${randomUUID()}` }),
  'experiments.resume experiment-active': async (world) => {
    const ids = await world.newExperiment()
    await runAgain(world, ids.experimentUuid)
    return to('experiments.resume', world, { ids, body: {} })
  },
  'experiments.resume no-rows': async (world) => {
    const ids = await world.newExperiment()
    const { session } = world.bench.server.database
    await session.query(`UPDATE experiment SET tag = 'no row has it' WHERE uuid = $1`, [ids.experimentUuid])
    return to('experiments.resume', world, { ids, body: { rows: 'new' } })
  },
  'experiments.resume rows-do-not-fit': async (world) => {
    const { exampleUuid } = await world.newExample()
    const { body } = await create(world, { examples: [exampleUuid], arms: live })
    const ids = { experimentUuid: String(body['uuid']) }
    await to('experiments.stop', world, { ids })
    const { session } = world.bench.server.database
    const texts = `{"arms":[{"config":{"parameters":{"n":{"type":"number","required":true}}},"usesSteps":false}],"judges":[]}`
    await session.query(`UPDATE experiment SET texts = $2 WHERE uuid = $1`, [ids.experimentUuid, texts])
    return to('experiments.resume', world, { ids, body: { rows: 'new' } })
  },
  'experiments.resume too-many-runs': async (world) => {
    const ids = await world.newExperiment()
    const { session } = world.bench.server.database
    await session.query('UPDATE experiment SET max_runs = 0 WHERE uuid = $1', [ids.experimentUuid])
    return to('experiments.resume', world, { ids, body: {} })
  },
  'experiments.resume budget-too-high': async (world) =>
    to('experiments.resume', world, { ids: await world.newExperiment(), body: { budgetUsd: 21 } }),
  'experiments.scores evaluation-limit': async (world) => {
    const ids = await world.newExperiment()
    const scores = [{ itemUuid: await itemOf(world, ids), evaluation: newName(), passed: true }]
    return besideMany(world, () => to('experiments.scores', world, { ids, body: { scores } }))
  },
  'experiments.scores not-a-code-evaluation': async (world) => {
    const ids = await world.newExperiment()
    const itemUuid = await itemOf(world, ids)
    const scores = [{ itemUuid, evaluation: 'Checks', passed: true }]
    return to('experiments.scores', world, { ids, body: { scores } })
  },
}
