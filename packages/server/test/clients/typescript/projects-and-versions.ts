/** Projects, versions and annotations, which work the same in all published TypeScript clients. */
import { expect, test } from 'vitest'
import { failureOf, sentDuring } from '../matrix/client-bench.ts'
import type { Matrix } from '../matrix/client-matrix.ts'
import { Annotation, CreatedProject, ErrorBody, Project, Version } from '../matrix/wire.ts'
import type { Ready } from './ready.ts'

export function projectTests(matrix: Matrix, ready: Ready): void {
  matrix.method(
    'projects.getAll',
    () => {
      test('every project', async () => {
        const { client, bench } = ready()
        const { answer, lines } = await sentDuring(bench, () => client.projects.getAll())
        expect(lines).toEqual(['GET /api/v3/projects'])
        expect(Project.array().parse(answer)).toContainEqual(expect.objectContaining({ id: 1, name: 'default' }))
      })

      test('with a wrong key the error body is the result', async () => {
        const answer = await ready().another('wrong').projects.getAll()
        expect(ErrorBody.parse(answer)).toMatchObject({ errorCode: 'UnauthorizedError' })
      })
    },
    'The client returns an error as the result, because it ignores the status.',
  )

  matrix.method('projects.create', () => {
    test('a project with its first draft', async () => {
      const { project, version } = CreatedProject.parse(await ready().client.projects.create('second project'))
      expect(project).toMatchObject({ name: 'second project', liveVersionUuid: null })
      expect(version).toMatchObject({ projectId: project.id, status: 'draft' })
    })

    test('a name that is too long rejects', async () => {
      expect(await failureOf(ready().client.projects.create('x'.repeat(257)))).toMatchObject({
        status: 400,
        errorCode: 'BadRequestError',
      })
    })
  })
}

export function versionTests(matrix: Matrix, ready: Ready): void {
  matrix.method('versions.get', () => {
    test('the live version, and one by its uuid', async () => {
      const { client, bench } = ready()
      const live = Version.parse(await client.versions.get(1, 'live'))
      expect(live).toMatchObject({ uuid: bench.liveUuid, projectId: 1, title: 'for the client', status: 'merged' })
      expect(await client.versions.get(1, bench.liveUuid)).toEqual(live)
    })

    test('a project without a live version rejects', async () => {
      const { client } = ready()
      const { project } = CreatedProject.parse(await client.projects.create('nothing live'))
      expect(await failureOf(client.versions.get(project.id, 'live'))).toMatchObject({
        status: 404,
        message: 'The project has no live version yet',
      })
    })
  })

  matrix.method('versions.push', () => {
    test('several changes at once; the answer is the version', async () => {
      const { client, bench } = ready()
      const versionUuid = await bench.newDraft()
      const { answer, sent } = await sentDuring(bench, () =>
        client.versions.push(1, versionUuid, [
          { path: 'greet', content: '', status: 'deleted' },
          { path: 'once', content: 'Twice.', status: 'modified', contentHash: 'ignored' },
          { path: 'new/two', content: 'Two.', status: 'added' },
          { path: 'chain', content: 'ignored', status: 'unchanged' },
        ]),
      )
      expect(answer).toEqual({ commitUuid: versionUuid })
      expect(Object.keys(sent[0]?.body ?? {})).toEqual(['changes', '__internal'])
      const all = await client.prompts.getAll({ versionUuid })
      expect(all.map(({ path }) => path)).toEqual(['chain', 'folder/triage', 'new/two', 'once', 'weather'])
      expect(all.find(({ path }) => path === 'once')).toMatchObject({ content: 'Twice.' })
      expect(all.find(({ path }) => path === 'chain')).not.toMatchObject({ content: 'ignored' })
    })

    test('a published version rejects, and stays as it is', async () => {
      const { client, bench } = ready()
      const change = { path: 'late', content: 'x', status: 'added' }
      expect(await failureOf(client.versions.push(1, bench.liveUuid, [change]))).toMatchObject({
        status: 400,
        errorCode: 'BadRequestError',
        message: expect.stringContaining('Cannot modify a merged commit'),
      })
      expect(await failureOf(client.prompts.get('late'))).toMatchObject({ status: 404 })
    })
  })
}

export const createVersion = (ready: Ready) => () => {
  test('a draft over the live version', async () => {
    const { client, bench } = ready()
    const { answer, sent } = await sentDuring(bench, () => client.versions.create('next', { projectId: 1 }))
    expect(sent[0]?.body).toEqual({ name: 'next', __internal: { source: 'api' } })
    expect(Version.parse(answer)).toMatchObject({
      title: 'next',
      status: 'draft',
      version: null,
      parentCommitUuid: bench.liveUuid,
    })
  })
}

export function evaluationTests(matrix: Matrix, ready: Ready): void {
  matrix.method('evaluations.annotate', () => {
    test('a score with a reason', async () => {
      const { client, bench } = ready()
      const [log, evaluation] = [await bench.newLog(), await bench.newEvaluation()]
      const { answer, sent } = await sentDuring(bench, () =>
        client.evaluations.annotate(log, 4, evaluation, { reason: 'friendly' }),
      )
      expect(sent[0]?.body).toEqual({ score: 4, metadata: { reason: 'friendly' }, __internal: { source: 'api' } })
      expect(Annotation.parse(answer)).toMatchObject({
        score: 4,
        normalizedScore: 75,
        metadata: { reason: 'friendly' },
        hasPassed: true,
        versionUuid: bench.liveUuid,
        conversationUuid: log,
        evaluationUuid: evaluation,
      })
    })

    test('for the version that the constructor names, a draft', async () => {
      const { another, bench } = ready()
      const versionUuid = await bench.newDraft()
      const client = another(bench.key, { versionUuid })
      const [log, evaluation] = [await bench.newLog(), await bench.newEvaluation()]
      const { answer, sent } = await sentDuring(bench, () => client.evaluations.annotate(log, 2, evaluation))
      expect(sent[0]?.body).toEqual({ score: 2, versionUuid, __internal: { source: 'api' } })
      expect(Annotation.parse(answer)).toMatchObject({ metadata: {}, versionUuid })
    })

    test('for the version that the call names', async () => {
      const { client, bench } = ready()
      const versionUuid = await bench.newDraft()
      const answer = await client.evaluations.annotate(await bench.newLog(), 3, await bench.newEvaluation(), {
        versionUuid,
      })
      expect(Annotation.parse(answer).versionUuid).toBe(versionUuid)
    })

    test('an unknown conversation rejects', async () => {
      const { client, bench } = ready()
      const call = client.evaluations.annotate(bench.liveUuid, 3, await bench.newEvaluation())
      expect(await failureOf(call)).toMatchObject({ status: 404, message: 'Conversation not found' })
    })
  })
}
