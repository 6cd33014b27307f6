/** Adds, changes and deletes many examples in one transaction. Repeating a batch changes nothing. */
import { randomUUID } from 'node:crypto'
import type { ChangedExamples } from '@stet/contract/vocabulary'
import { issueAt, refuse } from '../../shared/app-error.ts'
import type { Needs } from '../deps.ts'
import { assertSize, type Example, type ExampleChange, type ExampleFields, emptyFields } from './example.ts'
import { assertTotals, changed, type InProject, locked, rescore } from './save-example.ts'

export interface ChangeExamplesInput extends InProject {
  documentUuid: string
  /** The name is the key. Absent fields stay unchanged, and are empty in a new example. */
  changes: readonly (Partial<ExampleFields> & Pick<ExampleFields, 'name'>)[]
  delete?: readonly string[]
}

/**
 * @throws AppError NotFoundError for the project or the prompt; ConflictError for a full prompt; BadRequestError for an
 * example that is too large, and for two changes with one name.
 */
export async function changeExamples(
  deps: Needs<'transaction' | 'clock'>,
  { caller, projectId, changes, delete: deleted = [], ...input }: ChangeExamplesInput,
): Promise<ChangedExamples> {
  const { workspaceId, author } = caller
  const documentUuid = input.documentUuid.toLowerCase()
  const names = changes.map(({ name }) => name)
  assertNamedOnce(names)
  const at = deps.clock.now()
  return locked(deps, { caller, projectId }, async ({ documents, examples, experiments }) => {
    if (!(await documents.knowsDocument(workspaceId, projectId, documentUuid))) throw refuse('unknown-document-uuid')
    const uuids = deleted.map((uuid) => uuid.toLowerCase())
    const deletedCount = await examples.deleteMany(workspaceId, projectId, documentUuid, uuids)
    const stored = await examples.listNamed(workspaceId, projectId, documentUuid, names)
    const byName = new Map(stored.map((example) => [example.name, example]))
    const first = await examples.nextPosition(workspaceId, projectId, documentUuid)
    const added: Example[] = []
    const modified: [uuid: string, change: ExampleChange][] = []
    const edits: { before: Example; after: Example }[] = []
    for (const [index, { name, ...given }] of changes.entries()) {
      const before = byName.get(name)
      const fields = changed(given)
      const place = { name, position: first + added.length, createdAt: at, updatedAt: at }
      const created = {
        uuid: randomUUID(),
        workspaceId,
        projectId,
        documentUuid,
        author,
        sourceRunUuid: null,
        ...place,
      }
      const after = { ...(before ?? { ...emptyFields, ...created }), ...fields }
      assertSize(after, `changes.${index}`)
      if (!before) added.push(after)
      else if (!isSame(before, after)) {
        modified.push([before.uuid, { ...fields, updatedAt: at }])
        edits.push({ before, after })
      }
    }
    await examples.createMany(workspaceId, added)
    for (const [uuid, change] of modified) await examples.update(workspaceId, projectId, uuid, change)
    if (added.length + modified.length > 0) await assertTotals(examples, { workspaceId, projectId, documentUuid })
    await rescore(experiments, { caller, projectId }, edits)
    return {
      ...{ added: added.length, modified: modified.length },
      unchanged: changes.length - added.length - modified.length,
      deleted: deletedCount,
    }
  })
}

function assertNamedOnce(names: readonly string[]): void {
  const seen = new Set<string>()
  for (const [index, name] of names.entries()) {
    if (seen.has(name)) throw refuse('invalid-body', issueAt(`changes.${index}.name`, 'appears twice'))
    seen.add(name)
  }
}

/** The order of keys counts, because a model reads them in order. */
function isSame(one: ExampleFields, other: ExampleFields): boolean {
  return textOf(one) === textOf(other)
}

function textOf({ parameters, messages, expected, checks, toolResults, tags, position }: ExampleFields): string {
  return JSON.stringify([parameters, messages, expected, checks, toolResults, tags, position])
}
