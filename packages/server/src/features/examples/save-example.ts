/** Creates, updates and deletes examples. The project's lock keeps concurrent writers inside the limits. */
import { randomUUID } from 'node:crypto'
import { EXAMPLE_LIMITS } from '@stet/contract/vocabulary'
import { refuse } from '../../shared/app-error.ts'
import type { Caller } from '../../shared/caller.ts'
import { readUuid } from '../../shared/text-guards.ts'
import type { Needs, Stores } from '../deps.ts'
import { assertVisible } from '../documents/version-ref.ts'
import { assertSize, type Example, type ExampleFields, type ExampleStore, emptyFields, ownTags } from './example.ts'

export interface InProject {
  caller: Caller
  projectId: number
}

interface CreateExampleInput
  extends InProject,
    Pick<Example, 'documentUuid' | 'name' | 'parameters'>,
    Partial<ExampleFields> {
  name: string
  parameters: Example['parameters']
}

interface UpdateExampleInput extends InProject, Partial<ExampleFields> {
  exampleUuid: string
}

/**
 * @throws AppError NotFoundError for the project or the prompt; ConflictError for a taken name or a full prompt;
 * BadRequestError for an example that is too large.
 */
export async function createExample(
  deps: Needs<'transaction' | 'clock'>,
  { caller, projectId, documentUuid: given, ...fields }: CreateExampleInput,
): Promise<Example> {
  const { workspaceId, author } = caller
  const documentUuid = given.toLowerCase()
  const at = deps.clock.now()
  return locked(deps, { caller, projectId }, async ({ documents, examples }) => {
    if (!(await documents.knowsDocument(workspaceId, projectId, documentUuid))) throw refuse('unknown-document-uuid')
    const position = fields.position ?? (await examples.nextPosition(workspaceId, projectId, documentUuid))
    const example: Example = {
      ...{ uuid: randomUUID(), workspaceId, projectId, documentUuid, author, sourceRunUuid: null },
      ...{ ...emptyFields, ...changed(fields), name: fields.name, position, createdAt: at, updatedAt: at },
    }
    assertSize(example)
    await examples.create(workspaceId, example)
    await assertTotals(examples, example)
    return example
  })
}

/** Absent fields stay unchanged. @throws AppError as `createExample`; NotFoundError for the example. */
export async function updateExample(
  deps: Needs<'transaction' | 'clock'>,
  { caller, projectId, exampleUuid, ...fields }: UpdateExampleInput,
): Promise<Example> {
  const { workspaceId } = caller
  const change = changed(fields)
  return locked(deps, { caller, projectId }, async ({ examples, experiments }) => {
    const uuid = readUuid(exampleUuid)
    const stored = uuid && (await examples.findOptional(workspaceId, projectId, uuid))
    if (!stored) throw refuse('unknown-example')
    assertSize({ ...stored, ...change })
    const updated = await examples.update(workspaceId, projectId, stored.uuid, {
      ...change,
      updatedAt: deps.clock.now(),
    })
    await assertTotals(examples, updated)
    await rescore(experiments, { caller, projectId }, [{ before: stored, after: updated }])
    return updated
  })
}

/** Returns the uuid. @throws AppError NotFoundError for the project or the example. */
export async function deleteExample(
  deps: Needs<'transaction'>,
  { caller, projectId, exampleUuid }: InProject & { exampleUuid: string },
): Promise<string> {
  return locked(deps, { caller, projectId }, async ({ examples }) => {
    const uuid = readUuid(exampleUuid)
    if (!uuid || !(await examples.delete(caller.workspaceId, projectId, uuid))) throw refuse('unknown-example')
    return uuid
  })
}

/**
 * Call it after the write, so that a taken name is reported even if the prompt is full.
 * @throws AppError ConflictError
 */
export async function assertTotals(
  examples: ExampleStore,
  { workspaceId, projectId, documentUuid }: Pick<Example, 'workspaceId' | 'projectId' | 'documentUuid'>,
): Promise<void> {
  const { count, bytes } = await examples.totals(workspaceId, projectId, documentUuid)
  const { perPrompt, bytesPerPrompt } = EXAMPLE_LIMITS
  if (count > perPrompt) throw refuse('too-many-examples', { limit: perPrompt, unit: 'examples' })
  if (bytes > bytesPerPrompt) throw refuse('too-many-examples', { limit: bytesPerPrompt, unit: 'bytes' })
}

type Edit = Record<'before' | 'after', Pick<Example, 'uuid' | 'expected' | 'checks'>>

/** An edit of what is expected changes the scores of the answers that the row already has, but not the answers. */
export async function rescore(
  experiments: Pick<Stores['experiments'], 'rescore'>,
  { caller: { workspaceId }, projectId }: InProject,
  edits: readonly Edit[],
): Promise<void> {
  const edited = (field: 'expected' | 'checks') =>
    edits.filter(({ before, after }) => JSON.stringify(before[field]) !== JSON.stringify(after[field]))
  const uuidsOf = (found: readonly Edit[]) => found.map(({ before }) => before.uuid)
  const [expected, checks] = [uuidsOf(edited('expected')), uuidsOf(edited('checks'))]
  if (expected.length > 0) {
    await experiments.rescore(workspaceId, projectId, { exampleUuids: expected, sources: ['rule', 'judge'] })
  }
  if (checks.length > 0) await experiments.rescore(workspaceId, projectId, { exampleUuids: checks, sources: ['rule'] })
}

/** Returns the fields that a change sets. */
export function changed({ tags, ...fields }: Partial<ExampleFields>): Partial<ExampleFields> {
  return { ...fields, ...(tags && { tags: ownTags(tags) }) }
}

/**
 * Unlike `changeProject`, drops no cache: examples are neither cached nor part of a prompt.
 * @throws AppError NotFoundError for the project.
 */
export async function locked<T>(
  deps: Needs<'transaction'>,
  { caller, projectId }: InProject,
  work: (stores: Stores) => Promise<T>,
): Promise<T> {
  assertVisible(caller, projectId)
  return deps.transaction(async (stores) => {
    if (!(await stores.projects.lock(caller.workspaceId, projectId))) throw refuse('unknown-project')
    return work(stores)
  })
}
