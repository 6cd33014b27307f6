import type { ApiAnswer } from '../../api-call.ts'
import { importedVersion } from '../requests.ts'
import { inDraft, inLive, type Scenario, to } from '../scenario.ts'
import { newName, type World } from '../world.ts'

const live = ({ id }: { id: number }) => ({ projectId: String(id), environment: 'live' })
const importedEdit = (path: string) => {
  const { title: _, ...edit } = importedVersion()
  return { ...importedVersion(), mergedAt: edit.createdAt, revisions: [{ ...edit, path, prompt: 'x' }] }
}
const changed = { path: 'contested', status: 'modified', content: 'changed' }
const moved = (from: string, path: string) => ({ changes: [{ path, from, status: 'moved' }] })
const mismatched = { path: 'hello', prompt: 'x', base: 'x', baseHash: 'other' }

/** Changes a prompt that a gate of the project is about, for which there is no experiment. */
async function gated(world: World, change: (changes: object[]) => Promise<ApiAnswer>): Promise<ApiAnswer> {
  const path = newName()
  const text = (content: string) => [{ path, status: 'modified', content }]
  await created(world, { changes: text('Hello'), publish: {} })
  const ids = inProject(world)
  await to('projects.setGates', world, { ids, body: { mode: 'block', gates: [{ path, evaluations: ['Checks'] }] } })
  const refused = await change(text('Hi'))
  await to('projects.setGates', world, { ids, body: { gates: [] } })
  return refused
}

export const promptCauses: Record<string, Scenario> = {
  'versions.create invalid-path': (world) => created(world, { changes: [{ ...changed, path: 'no spaces' }] }),
  'versions.create path-too-long': (world) => created(world, { changes: [{ ...changed, path: 'x'.repeat(10_000) }] }),
  'versions.create repeated-path': (world) => created(world, { changes: [changed, changed] }),
  'versions.create unknown-document': (world) => created(world, moved('unknown', newName())),
  'versions.create path-taken': (world) => created(world, moved('hello', 'counting')),
  'versions.create base-changed': (world) => created(world, { changes: [{ ...changed, baseHash: 'other' }] }),
  'versions.create base-mismatch': (world) => created(world, { merge: true, changes: [{ ...changed, ...mismatched }] }),
  'versions.create live-text-changed': (world) => created(world, { changes: [{ ...changed, liveHash: 'other' }] }),
  'versions.create others-changed': async (world) => {
    const name = newName()
    const key = await world.keyWith({ name: 'others' })
    await to('versions.create', world, { ids: inProject(world), body: { name, changes: [changed] }, key })
    return created(world, { name, reuse: true, replace: true })
  },
  'versions.create live-changed': async (world) => {
    const name = newName()
    const stale = { changes: [{ ...changed, content: newName() }] }
    await created(world, { name, ...stale })
    await created(world, { changes: [{ ...changed, content: newName() }], publish: {} })
    return created(world, { name, reuse: true, publish: {} })
  },
  'versions.create draft-kept-changing': (world) =>
    whileTextsChange(world, async () => {
      const name = newName()
      await created(world, { name, changes: [{ ...changed, path: newName() }] })
      return () => created(world, { name, reuse: true, publish: {} })
    }),
  'versions.create moved': (world) => created(world, { publish: { expectedVersionUuid: world.brokenDraft } }),
  'versions.create draft-does-not-compile': (world) =>
    created(world, { changes: [{ ...changed, content: '{{ if }}' }], publish: {} }),
  'versions.create release-refused': (world) =>
    created(world, {
      changes: [{ ...changed, content: '---\ntemperature: hot\n---\nHi' }],
      publish: { block: ['configuration'] },
    }),
  'versions.create gate': (world) => gated(world, (changes) => created(world, { changes, publish: {} })),
  'versions.publish gate': (world) =>
    gated(world, async (changes) => {
      const ids = await inDraft(world)
      await to('versions.push', world, { ids, body: { changes } })
      return to('versions.publish', world, { ids, body: {} })
    }),
  'versions.publish not-a-draft': (world) => to('versions.publish', world, { ids: inLive(world), body: {} }),
  'versions.checks not-a-draft': (world) => to('versions.checks', world, { ids: inLive(world) }),
  'versions.publish live-changed': async (world) => {
    const [one, two] = [await inDraft(world), await inDraft(world)]
    for (const ids of [one, two]) {
      const content = newName()
      await to('versions.push', world, { ids, body: { changes: [{ ...changed, content }] } })
    }
    await to('versions.publish', world, { ids: one, body: {} })
    return to('versions.publish', world, { ids: two, body: {} })
  },
  'versions.publish moved': async (world) => {
    const ids = await inDraft(world)
    return to('versions.publish', world, { ids, body: { expectedVersionUuid: ids.versionUuid } })
  },
  'environments.rollback moved': (world) =>
    to('environments.rollback', world, { ids: live(world.project), body: { expectedVersionUuid: world.brokenDraft } }),
  'environments.rollback nothing-to-return-to': (world) =>
    to('environments.rollback', world, { ids: live(world.unpublished), body: {} }),
  'versions.publish draft-kept-changing': (world) =>
    whileTextsChange(world, async () => {
      const ids = await inDraft(world)
      await to('documents.create', world, { ids, body: { path: newName(), prompt: 'x' } })
      return () => to('versions.publish', world, { ids, body: {} })
    }),
  'versions.updateFromEnvironment draft-kept-changing': (world) =>
    whileTextsChange(world, async () => {
      const ids = await inDraft(world)
      // Equal texts with different hashes conflict, and merge without a base.
      const { body } = await to('documents.get', world, { ids: { ...ids, path: 'hello' } })
      for (const prompt of ['x', body['content']])
        await to('documents.createOrUpdate', world, { ids, body: { path: 'hello', prompt } })
      return () => to('versions.updateFromEnvironment', world, { ids, body: {} })
    }),
  'versions.publish draft-does-not-compile': async (world) => {
    const ids = await inDraft(world)
    await to('documents.create', world, { ids, body: { path: newName(), prompt: '{{ if }}' } })
    return to('versions.publish', world, { ids, body: {} })
  },
  'versions.publish release-refused': async (world) => {
    const ids = await inDraft(world)
    await to('documents.create', world, { ids, body: { path: newName(), prompt: '---\ntemperature: hot\n---\nHi' } })
    return to('versions.publish', world, { ids, body: { block: ['configuration'] } })
  },
  'versions.import version-uuid-taken': async (world) => {
    const [one, two] = [await inDraft(world), await inDraft(world)]
    return to('versions.import', world, { ids: one, body: { ...importedVersion(), uuid: two.versionUuid } })
  },
  'versions.import invalid-path': async (world) =>
    to('versions.import', world, { ids: await inDraft(world), body: importedEdit('no spaces') }),
  'versions.import path-too-long': async (world) =>
    to('versions.import', world, { ids: await inDraft(world), body: importedEdit('x'.repeat(10_000)) }),
  'versions.push invalid-path': async (world) =>
    to('versions.push', world, { ids: await inDraft(world), body: { changes: [{ ...changed, path: 'no spaces' }] } }),
  'versions.push path-too-long': async (world) =>
    to('versions.push', world, {
      ids: await inDraft(world),
      body: { changes: [{ ...changed, path: 'x'.repeat(10_000) }] },
    }),
  'versions.push repeated-path': async (world) =>
    to('versions.push', world, { ids: await inDraft(world), body: { changes: [changed, changed] } }),
  'versions.push unknown-document': async (world) =>
    to('versions.push', world, { ids: await inDraft(world), body: moved('unknown', newName()) }),
  'versions.push path-taken': async (world) =>
    to('versions.push', world, { ids: await inDraft(world), body: moved('hello', 'counting') }),
  'versions.push base-changed': async (world) =>
    to('versions.push', world, { ids: await inDraft(world), body: { changes: [{ ...changed, baseHash: 'other' }] } }),
  'versions.push base-mismatch': async (world) =>
    to('versions.push', world, {
      ids: await inDraft(world),
      body: { merge: true, changes: [{ ...changed, ...mismatched }] },
    }),
  'versions.push live-text-changed': async (world) =>
    to('versions.push', world, { ids: await inDraft(world), body: { changes: [{ ...changed, liveHash: 'other' }] } }),
  'documents.list list-too-large': async (world) => {
    const ids = await inDraft(world)
    // The repeated alias makes 3.5 MB of JSON out of 60 KB.
    const prompt = `---\na: &a ${'x'.repeat(60_000)}\nb: [${Array.from({ length: 58 }, () => '*a')}]\n---\n`
    for (let made = 0; made < 19; made += 1) {
      // The bytes of a key per second are limited.
      const { key } = await world.newApiKey()
      await to('documents.create', world, { ids, body: { path: newName(), prompt }, key })
    }
    return to('documents.list', world, { ids })
  },
  'documents.create path-taken': async (world) =>
    to('documents.create', world, { ids: await inDraft(world), body: { path: 'hello' } }),
  'documents.move invalid-path': (world) => move(world, 'hello', 'no spaces'),
  'documents.move path-too-long': (world) => move(world, 'hello', 'x'.repeat(10_000)),
  'documents.move unknown-document': (world) => move(world, 'unknown', newName()),
  'documents.move path-taken': (world) => move(world, 'hello', 'counting'),
  'documents.move base-changed': (world) => move(world, 'hello', newName(), { baseHash: 'other' }),
  'documents.move draft-kept-changing': (world) =>
    whileTextsChange(world, async () => {
      const ids = await inDraft(world)
      return () => to('documents.move', world, { ids, body: { from: 'hello', to: newName() } })
    }),
  'documents.createOrUpdate base-changed': async (world) =>
    to('documents.createOrUpdate', world, {
      ids: await inDraft(world),
      body: { path: 'hello', prompt: 'x', baseHash: 'other' },
    }),
  'documents.createOrUpdate base-mismatch': async (world) =>
    to('documents.createOrUpdate', world, { ids: await inDraft(world), body: { merge: true, ...mismatched } }),
  'documents.merge base-mismatch': async (world) =>
    to('documents.merge', world, { ids: await inDraft(world), body: { items: [mismatched] } }),
  'documents.createOrUpdate live-text-changed': async (world) =>
    to('documents.createOrUpdate', world, {
      ids: await inDraft(world),
      body: { path: 'hello', prompt: 'x', liveHash: 'other' },
    }),
  'documents.createOrUpdate merged-without-force': (world) =>
    to('documents.createOrUpdate', world, { ids: inLive(world), body: { path: 'hello', prompt: 'x' } }),
  'documents.createOrUpdate live-hash-of-merged': (world) =>
    to('documents.createOrUpdate', world, {
      ids: inLive(world),
      body: { path: 'hello', prompt: 'x', force: true, liveHash: 'other' },
    }),
  'documents.createOrUpdate missing-publish-scope': async (world) =>
    to('documents.createOrUpdate', world, {
      ids: inLive(world),
      body: { path: 'hello', prompt: 'x', force: true },
      key: await world.keyWith({ scopes: ['write'] }),
    }),
  'documents.createOrUpdate if-match-failed': async (world) =>
    to('documents.createOrUpdate', world, {
      ids: await inDraft(world),
      body: { path: 'hello', prompt: 'x' },
      headers: { 'if-match': '"other"' },
    }),
  'documents.createOrUpdate if-none-match-failed': async (world) =>
    to('documents.createOrUpdate', world, {
      ids: await inDraft(world),
      body: { path: 'hello', prompt: 'x' },
      headers: { 'if-none-match': '*' },
    }),
  'documents.check invalid-path': async (world) =>
    to('documents.check', world, { ids: await inDraft(world), body: { path: 'no spaces', prompt: 'x' } }),
  'documents.check path-too-long': async (world) =>
    to('documents.check', world, { ids: await inDraft(world), body: { path: 'x'.repeat(10_000), prompt: 'x' } }),
  'documents.check missing-parameters': (world) =>
    to('documents.check', world, { ids: inLive(world), body: { path: 'counting', parameters: {} } }),
  'documents.check invalid-parameters': (world) =>
    to('documents.check', world, { ids: inLive(world), body: { path: 'counting', parameters: { count: 'many' } } }),
  'documents.delete if-match-failed': async (world) =>
    to('documents.delete', world, {
      ids: { ...(await inDraft(world)), path: 'hello' },
      headers: { 'if-match': '"other"' },
    }),
}

const inProject = ({ project }: World) => ({ projectId: String(project.id) })

async function move(world: World, from: string, path: string, more: object = {}): Promise<ApiAnswer> {
  return to('documents.move', world, { ids: await inDraft(world), body: { from, to: path, ...more } })
}

function created(world: World, body: Record<string, unknown>): Promise<ApiAnswer> {
  return to('versions.create', world, { ids: inProject(world), body: { name: newName(), ...body } })
}

/** Changes the prepared draft constantly, so that every read returns different texts. */
async function whileTextsChange(world: World, prepare: () => Promise<() => Promise<ApiAnswer>>): Promise<ApiAnswer> {
  const publish = await prepare()
  const { session } = world.bench.server.database
  const { rows } = await session.query(
    `SELECT column_name AS name FROM information_schema.columns WHERE table_name = 'document' AND table_schema = 'public'`,
  )
  const changing = `encode(sha256(random()::text::bytea), 'hex') AS content_hash`
  const columns = rows.map(({ name }) => (name === 'content_hash' ? changing : `"${String(name)}"`))
  await session.query('ALTER TABLE document RENAME TO document_kept')
  await session.query(`CREATE VIEW document AS SELECT ${columns.join(', ')} FROM document_kept`)
  try {
    return await publish()
  } finally {
    await session.query('DROP VIEW document')
    await session.query('ALTER TABLE document_kept RENAME TO document')
  }
}
