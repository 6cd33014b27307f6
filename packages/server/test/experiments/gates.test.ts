import { Report } from '@stet/contract'
import type { Experiment, GateVerdict, ReleaseChecks } from '@stet/contract/vocabulary'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { publishVersion } from '../../src/features/versions/publish-version.ts'
import { apiCaller } from '../http/api-call.ts'
import { createTestProject, issueKey } from '../http/scenario.ts'
import { caller, prompt } from '../runs/run-bench.ts'
import { gate as heldOpen } from '../support/gate.ts'
import { bothArms, type ExperimentBench, endedExperiment, expectOk, experimentBench } from './experiment-bench.ts'

let bench: ExperimentBench
beforeAll(async () => {
  bench = await experimentBench()
})
afterAll(() => bench.close())

const settings = 'maxRetries: 0\nagents: [helper]\nparameters:\n  name:\n    type: text\n    required: true\n'
/** The word says which answer the fake provider gives. */
const greet = (word: string) =>
  prompt(
    `<prompt path="tone" />\n<step agents={{ ['./other', 'th' + 'ird'] }}><user>${word}: {{ name }}</user></step>`,
    settings,
  )
const texts = {
  ...{ greet: greet('Good'), tone: 'Be kind.' },
  ...{ helper: prompt('<user>Help</user>'), other: prompt('<user>Help</user>') },
  third: prompt('<user>Help</user>'),
}
/** Without agents: a computed one may be any prompt, also a judge. */
const plain = (word: string) => prompt(`<user>${word}: {{ name }}</user>`, settings.replace('agents: [helper]\n', ''))
const names = ['Ada', 'Ben', 'Cleo', 'Dan', 'Eve', 'Fay']

/** Rows expect a good answer. `Bad` in the prompt gives a bad one, and `Odd` only for the rows of these names. */
async function scenario(odd: readonly string[] = [], written = greet) {
  const { api, fake } = bench
  fake.setDefault(({ body }) => {
    const [, word, name = ''] = /(Good|Better|Bad|Odd): (\w+)/.exec(JSON.stringify(body['messages'])) ?? []
    return { text: word === 'Bad' || (word === 'Odd' && odd.includes(name)) ? 'bad' : 'good' }
  })
  const project = await createTestProject(api, { ...texts, greet: written('Good') })
  const root = `/projects/${project.id}`
  const draft = await project.newDraft()
  const draftUuid = draft.split('/').at(-1) ?? ''
  const put = (content: Record<string, string>, into = draft) => {
    const changes = Object.entries(content).map(([path, text]) => ({ path, content: text, status: 'modified' }))
    return expectOk(api('POST', `${into}/push`, { body: { changes } }))
  }
  const documentUuid = String((await api('GET', `${project.live}/documents/greet`)).body['uuid'])
  const saveRows = (rows: object[]) =>
    expectOk(api('POST', `${root}/examples/batch`, { body: { documentUuid, changes: rows } }))
  const rowOf = (name: string, more = {}) => {
    return { name, parameters: { name }, checks: [{ type: 'contains', any: ['good'] }], ...more }
  }
  await put({ greet: written('Better') })
  await saveRows(names.map((name) => rowOf(name)))
  const setGates = (more = {}, mode = 'block') =>
    expectOk(
      api('PUT', `${root}/gates`, { body: { mode, gates: [{ path: 'greet', evaluations: ['Checks'], ...more }] } }),
    )
  await setGates()
  const start = async (more = {}) => {
    const arms = [{ versionUuid: 'live' }, { versionUuid: draftUuid }]
    return (
      await expectOk(
        api<Experiment>('POST', `${root}/experiments`, { body: { path: 'greet', arms, concurrency: 16, ...more } }),
        201,
      )
    ).body
  }
  return {
    ...{ api, project, root, draft, draftUuid, documentUuid, put, rowOf, saveRows, setGates, start },
    verdict: async (): Promise<GateVerdict | undefined> => {
      return (await expectOk(api<ReleaseChecks>('GET', `${draft}/checks`))).body.gates[0]
    },
    publish: (body = {}) => api('POST', `${draft}/publish`, { body }),
    ran: async (more = {}) => endedExperiment(bench, (await start(more)).uuid),
  }
}

const pass = { verdict: 'pass', code: null, failed: [] }
const inconclusive = (code: string) => ({ verdict: 'inconclusive', code })

it('a draft with the same results passes, and is published', async () => {
  const { verdict, publish, ran, setGates } = await scenario()
  expect(await verdict()).toMatchObject({ ...inconclusive('no-experiment'), tries: 0 })
  expect((await publish()).body).toMatchObject({ reason: 'gate', details: { gates: [inconclusive('no-experiment')] } })
  const { uuid } = await ran()
  expect(await verdict()).toMatchObject({ ...pass, experimentUuid: uuid, tries: 1, same: 6, passRate: 1 })
  const { body } = await expectOk(bench.api('GET', `/experiments/${uuid}/report`))
  expect(Report.parse(body)).toMatchObject({
    pairs: [{ verdict: 'pass', words: { counts: '0 broke, 0 fixed, 6 same' } }],
    arms: [
      { ended: 6, scored: 6, unscored: [] },
      { ended: 6, scored: 6 },
    ],
    warnings: ['few-rows'],
  })
  await setGates({ minRows: 7 })
  expect(await verdict()).toMatchObject(inconclusive('too-few-rows'))
  await setGates()
  expect((await publish()).status).toBe(200)
})

it('a draft that breaks rows is refused with the rows, warned about, and published with a reason', async () => {
  const { verdict, publish, ran, put, setGates } = await scenario()
  await put({ greet: greet('Bad') })
  await ran()
  const failing = { verdict: 'fail', failed: ['sign'], broke: 6, rows: names.map((name) => ({ name })) }
  const refused = await publish()
  expect([refused.status, refused.body]).toMatchObject([409, { reason: 'gate', details: { gates: [failing] } }])
  await setGates({}, 'warn')
  expect(await verdict()).toMatchObject(failing)
  expect((await publish()).status).toBe(200)
})

it('one broken row is chance, unless it has the tag must', async () => {
  const { verdict, ran, put, saveRows, rowOf } = await scenario(['Ada'])
  await put({ greet: greet('Odd') })
  await ran()
  expect(await verdict()).toMatchObject({ ...pass, broke: 1 })
  await saveRows([rowOf('Ada', { tags: ['must'] })])
  expect(await verdict()).toMatchObject({ verdict: 'fail', failed: ['must'], rows: [{ name: 'Ada', must: true }] })
})

describe('after a pass', () => {
  it('an edit of the draft, of a reference, of an agent, also of a step, or of live blocks again, and its return passes', async () => {
    const { verdict, ran, put, project } = await scenario()
    await ran()
    const edits: Record<string, string>[] = [
      { greet: greet('Good') },
      { tone: 'Be rude.' },
      { helper: prompt('<user>Hm</user>') },
      { other: prompt('<user>Hm</user>') },
      { third: prompt('<user>Hm</user>') },
    ]
    const mine = { ...texts, greet: greet('Better') }
    for (const edit of edits) {
      expect(await verdict()).toMatchObject(pass)
      await put(edit)
      // A draft that is like live again has nothing to ask about.
      expect(await verdict(), JSON.stringify(edit)).toEqual(
        edit['greet'] ? undefined : expect.objectContaining(inconclusive('no-experiment')),
      )
      await put(mine)
    }
    expect(await verdict()).toMatchObject(pass)
    for (const edit of edits.slice(1)) {
      const other = await project.newDraft()
      await put(edit, other)
      await expectOk(bench.api('POST', `${other}/publish`, { body: { override: ['gate'], reason: 'A test' } }))
      expect(await verdict(), JSON.stringify(edit)).toMatchObject(inconclusive('no-experiment'))
      const back = await project.newDraft()
      await put(texts, back)
      await expectOk(bench.api('POST', `${back}/publish`, { body: { override: ['gate'], reason: 'A test' } }))
    }
  })

  it('an edited, added or deleted row blocks again', async () => {
    const { verdict, ran, saveRows, rowOf, documentUuid, root } = await scenario()
    await ran()
    await saveRows([rowOf('Ada', { parameters: { name: 'Ann' } })])
    expect(await verdict()).toMatchObject(inconclusive('rows-changed'))
    await saveRows([rowOf('Ada'), rowOf('Gus')])
    expect(await verdict()).toMatchObject(inconclusive('rows-changed'))
    type Rows = { uuid: string; name: string }[]
    const rows = (await expectOk(bench.api<Rows>('GET', `${root}/examples?documentUuid=${documentUuid}`))).body
    const gus = rows.find(({ name }) => name === 'Gus')
    await expectOk(bench.api('DELETE', `${root}/examples/${gus?.uuid}`))
    expect(await verdict()).toMatchObject(pass)
  })

  it('an edit of what is expected is scored again without a run', async () => {
    const { verdict, ran, saveRows, rowOf } = await scenario()
    await ran()
    const before = bench.fake.requests.length
    // Both arms answer the same, so the rows fail in both.
    await saveRows(names.map((name) => rowOf(name, { checks: [{ type: 'contains', any: ['best'] }] })))
    await expect.poll(verdict, { timeout: 30_000 }).toMatchObject({ ...pass, same: 6, passRate: 0 })
    expect(bench.fake.requests.length).toBe(before)
  })

  it('running only some rows again changes nothing', async () => {
    const { verdict, ran, root, documentUuid } = await scenario(['Ada'])
    const { uuid } = await ran()
    type Rows = { uuid: string }[]
    const [ada] = (await expectOk(bench.api<Rows>('GET', `${root}/examples?documentUuid=${documentUuid}`))).body
    await ran({ examples: [ada?.uuid] })
    expect(await verdict()).toMatchObject({ ...pass, experimentUuid: uuid, tries: 2 })
  })
})

// Agents are not among the texts that a publication compares with those that it compiled.
it('a change of live between the verdict and the publication is asked about again', async () => {
  const { verdict, ran, put, project, draftUuid } = await scenario()
  await ran()
  expect(await verdict()).toMatchObject(pass)
  const other = await project.newDraft()
  await put({ helper: prompt('<user>Hm</user>') }, other)
  const { deps } = bench.server
  let meanwhile: Promise<unknown> | undefined
  const transaction: typeof deps.transaction = async (work) => {
    const body = { override: ['gate'], reason: 'A test' }
    meanwhile ??= expectOk(bench.api('POST', `${other}/publish`, { body }))
    await meanwhile
    return deps.transaction(work)
  }
  const input = { caller, projectId: project.id, versionRef: draftUuid }
  await expect(publishVersion({ ...deps, transaction }, input)).rejects.toMatchObject({ reason: 'gate' })
})

it('an experiment that runs, or was stopped, gives no verdict; the newest completed one does', async () => {
  const { verdict, start, ran } = await scenario()
  const held = heldOpen()
  bench.fake.setDefault({ text: 'good', gate: held.opened })
  const { uuid } = await start()
  expect(await verdict()).toMatchObject({ ...inconclusive('running'), experimentUuid: uuid })
  await expectOk(bench.api('POST', `/experiments/${uuid}/stop`))
  held.open()
  expect(await verdict()).toMatchObject(inconclusive('stopped'))
  await ran()
  expect(await verdict()).toMatchObject({ ...pass, tries: 2 })
})

it('the newest result counts, not the best one', async () => {
  const { verdict, ran } = await scenario()
  await ran()
  expect(await verdict()).toMatchObject(pass)
  bench.fake.setDefault(({ body }) => ({ text: JSON.stringify(body['messages']).includes('Better') ? 'bad' : 'good' }))
  await ran()
  expect(await verdict()).toMatchObject({ verdict: 'fail', broke: 6, tries: 2 })
})

it('a gate follows its prompt to another path, and reads only the newest 50 experiments', async () => {
  const { verdict, ran, draft, project } = await scenario()
  const { uuid } = await ran()
  await expectOk(bench.api('POST', `${draft}/documents/move`, { body: { from: 'greet', to: 'moved' } }))
  expect(await verdict()).toMatchObject({ ...pass, path: 'moved', experimentUuid: uuid })
  const { session } = bench.server.database
  const { rows } = await session.query(
    `SELECT string_agg(quote_ident(column_name), ', ') AS names FROM information_schema.columns
     WHERE table_name = 'experiment' AND column_name NOT IN ('id', 'uuid', 'arms')`,
  )
  const names = String(rows[0]?.['names'])
  const copy = (times: number) =>
    session.query(
      `INSERT INTO experiment (uuid, arms, ${names})
       SELECT gen_random_uuid(), '[]', ${names} FROM experiment, generate_series(1, ${times}) WHERE uuid = $1`,
      [uuid],
    )
  await copy(49)
  expect(await verdict()).toMatchObject({ ...pass, experimentUuid: uuid })
  await copy(1)
  expect(await verdict()).toMatchObject(inconclusive('no-experiment'))
  await session.query(`DELETE FROM experiment WHERE project_id = $1 AND arms::text = '[]'`, [project.id])
})

it('an experiment during which an agent changed gives no verdict, also after the change is undone', async () => {
  const { verdict, start, ran, put } = await scenario()
  const held = heldOpen()
  const calls = bench.fake.requests.length
  const usage = { prompt_tokens: 100_000, completion_tokens: 0, total_tokens: 100_000 }
  bench.fake.setDefault({ text: 'good', gate: held.opened, usage })
  const { uuid } = await start({ concurrency: 1, budgetUsd: 0.01 })
  await bench.fake.waitForRequest(calls + 1)
  await put({ helper: prompt('<user>Hm</user>') })
  held.open()
  const get = async () => (await expectOk(bench.api<Experiment>('GET', `/experiments/${uuid}`))).body
  await expect.poll(get).toMatchObject({ state: 'stopped', reason: 'budget', isStale: true })
  await put({ helper: texts.helper })
  bench.fake.setDefault({ text: 'good' })
  await expectOk(bench.api('POST', `/experiments/${uuid}/resume`, { body: { budgetUsd: 5 } }))
  await expect.poll(get).toMatchObject({ state: 'completed', isStale: true })
  expect(await verdict()).toMatchObject({ ...inconclusive('stale'), experimentUuid: uuid })
  await ran()
  expect(await verdict()).toMatchObject(pass)
})

it('labels by those who made the change do not open the gate', async () => {
  const { verdict, ran, put, setGates } = await scenario()
  await put({ greet: greet('Bad') })
  const { uuid, evaluations } = await ran()
  const checks = evaluations.find(({ name }) => name === 'Checks')?.uuid
  type Page = { items: { items: { arm: number; conversationUuid: string }[] }[] }
  const { items } = (await expectOk(bench.api<Page>('GET', `/experiments/${uuid}/items`))).body
  const answers = items.flatMap((row) => row.items).filter(({ arm }) => arm === 1)
  const label = async (api = bench.api) => {
    for (const { conversationUuid } of answers) {
      await expectOk(
        api('POST', `/conversations/${conversationUuid}/evaluations/${checks}/annotate`, { body: { score: 1 } }),
        201,
      )
    }
  }
  await label()
  expect(await verdict()).toMatchObject({ verdict: 'fail', broke: 6, labels: { count: 0, leftOut: 6 } })
  await setGates({ labels: 'all' })
  expect(await verdict()).toMatchObject({ ...pass, broke: 0, labels: { count: 6, leftOut: 0 } })
  await setGates()
  await label(apiCaller(bench.server.url, await issueKey(bench.api, { name: 'Ben', scopes: ['run'] })))
  expect(await verdict()).toMatchObject({ ...pass, broke: 0, labels: { count: 6, people: [{ name: 'Ben' }] } })
})

describe('a judge', () => {
  const judgeText = (criteria: string) => {
    const schema = '  type: object\n  properties:\n    passed: { type: boolean }\n    reason: { type: string }\n'
    const settings = `maxRetries: 0\nschema:\n${schema}  required: [passed, reason]\n`
    return prompt(`<user>${criteria}: {{ answer }}</user>`, settings)
  }

  it('opens a gate once it has been shown to agree with people, and not after an edit', async () => {
    const { verdict, ran, project, put, setGates, saveRows, rowOf } = await scenario([], plain)
    const isBad = (text: string) => /: Bad\w+|bad/.test(text)
    bench.fake.setDefault(({ body }) => {
      const text = JSON.stringify(body['messages'])
      if (text.includes('Judge')) return { object: { passed: !isBad(text), reason: 'As I see it' } }
      return { text: isBad(text) ? 'bad' : 'good' }
    })
    // Twenty rows, of which both versions answer ten badly.
    await saveRows([
      ...Array.from({ length: 4 }, (_, place) => rowOf(`Gil${place}`)),
      ...Array.from({ length: 10 }, (_, place) => rowOf(`Bad${place}`)),
    ])
    const edit = async (criteria: string) => {
      const draft = await project.newDraft()
      await put({ 'judges/tone': judgeText(criteria) }, draft)
      await expectOk(bench.api('POST', `${draft}/publish`, { body: { override: ['gate'], reason: 'A test' } }))
    }
    await edit('Judge')
    const judge = { projectId: project.id, name: 'Tone', type: 'judge', metric: 'binary', judge: 'judges/tone' }
    const evaluation = await expectOk(bench.api('POST', '/evaluations', { body: judge }), 201)
    await setGates({ evaluations: ['Tone'] })
    const { uuid } = await ran()
    expect(await verdict()).toMatchObject({ ...inconclusive('judge-not-validated'), experimentUuid: uuid })
    const { body } = await expectOk(bench.api('GET', `/experiments/${uuid}/report`))
    expect(body['evaluations']).toMatchObject(
      expect.arrayContaining([expect.objectContaining({ name: 'Tone', counts: false, leftOut: 'not-validated' })]),
    )
    type Page = { items: { items: { arm: number; answer: string; conversationUuid: string }[] }[] }
    const { items } = (await expectOk(bench.api<Page>('GET', `/experiments/${uuid}/items`))).body
    for (const { answer, conversationUuid } of items.flatMap((row) => row.items.slice(1))) {
      const address = `/conversations/${conversationUuid}/evaluations/${evaluation.body['uuid']}/annotate`
      await expectOk(bench.api('POST', address, { body: { score: answer === 'good' ? 1 : 0 } }), 201)
    }
    expect(await verdict()).toMatchObject({ ...pass, same: 20, passRate: 0.5 })
    await edit('Judge strictly')
    expect(await verdict()).toMatchObject(inconclusive('judge-changed'))
  })
})

it('a new prompt is asked only for its pass rate', async () => {
  const { setGates, put, root, draft, start } = await scenario()
  await put({ added: prompt('<user>Good: {{ name }}</user>', 'parameters:\n  name:\n    type: text\n') })
  await setGates({ path: 'added' })
  const verdicts = async () => (await expectOk(bench.api<ReleaseChecks>('GET', `${draft}/checks`))).body.gates
  expect(await verdicts()).toMatchObject([{ path: 'added', ...pass, experimentUuid: null }])
  await setGates({ path: 'added', passRateAtLeast: 0.9 })
  expect(await verdicts()).toMatchObject([inconclusive('no-experiment')])
  const { body } = await bench.api('GET', `${draft}/documents/added`)
  const changes = names.map((name) => ({ name, parameters: { name }, checks: [{ type: 'contains', any: ['good'] }] }))
  await expectOk(bench.api('POST', `${root}/examples/batch`, { body: { documentUuid: body['uuid'], changes } }))
  const { uuid } = await start({ path: 'added', arms: bothArms.slice(1) })
  await expect.poll(verdicts, { timeout: 30_000 }).toMatchObject([{ ...pass, passRate: 1, experimentUuid: uuid }])
})
