/** Saves runs as examples: what the caller gave, the results of client tools, and the answer as the expected one. */
import { randomUUID } from 'node:crypto'
import type { CannedResult, Message, SkippedRun } from '@stet/contract/vocabulary'
import { EXAMPLE_LIMITS } from '@stet/contract/vocabulary'
import { RunError } from '../../shared/app-error.ts'
import type { Needs, Stores } from '../deps.ts'
import { findProject } from '../documents/version-ref.ts'
import { readPromptConfig } from '../templates/prompt-config.ts'
import { bytesOf, type Example, emptyFields, type SourceRun } from './example.ts'
import { assertTotals, type InProject, locked } from './save-example.ts'

type SaveDeps = Needs<'transaction' | 'clock' | 'stores' | 'runs' | 'liveCache'>

export interface SavedRuns {
  added: Example[]
  skipped: SkippedRun[]
}

interface Found {
  run: SourceRun
  fields: Pick<Example, 'parameters' | 'messages' | 'expected' | 'toolResults'>
}

/** @throws AppError NotFoundError for the project; ConflictError for a full prompt. */
export async function saveRuns(
  deps: SaveDeps,
  { caller, projectId, runs, expected }: InProject & { runs: readonly string[]; expected: 'answer' | 'none' },
): Promise<SavedRuns> {
  const { workspaceId, author } = caller
  await findProject(deps, caller, projectId)
  const found: Found[] = []
  const skipped: SkippedRun[] = []
  // Before the transaction, because a conversation may be large.
  for (const uuid of new Set(runs.map((each) => each.toLowerCase()))) {
    const run = await deps.stores.examples.findSource(workspaceId, projectId, uuid)
    const fields = run && fieldsOf(run, expected, [...deps.runs.serverTools.keys()])
    if (!run) skipped.push({ uuid, reason: 'unknown-run' })
    else if (typeof fields === 'string') skipped.push({ uuid, reason: fields })
    else if (fields) found.push({ run, fields })
  }
  const at = deps.clock.now()
  return locked(deps, { caller, projectId }, async ({ examples }) => {
    const saved = await examples.listSavedRuns(workspaceId, projectId, uuidsOf(found))
    // A deletion by identifier cannot run between the read and this transaction's end.
    const present = await examples.lockConversations(
      workspaceId,
      found.map(({ run }) => run.conversationUuid),
    )
    const added: Example[] = []
    const late: SkippedRun[] = []
    for (const [documentUuid, ofPrompt] of byPrompt(found)) {
      const isFree = ({ run }: Found) => !saved.has(run.uuid) && present.has(run.conversationUuid)
      for (const { run } of ofPrompt.filter((each) => !isFree(each)))
        late.push({ uuid: run.uuid, reason: saved.has(run.uuid) ? 'already-saved' : 'unknown-run' })
      const free = ofPrompt.filter(isFree)
      if (free.length === 0) continue
      const prompt = { workspaceId, projectId, documentUuid }
      const names = await freeNames(examples, prompt, uuidsOf(free))
      const first = await examples.nextPosition(workspaceId, projectId, documentUuid)
      const rows = free.map(({ run, fields }, index): Example => {
        const own = { uuid: randomUUID(), ...prompt, author, sourceRunUuid: run.uuid, name: names[index] ?? run.uuid }
        return { ...emptyFields, ...own, ...fields, position: first + index, createdAt: at, updatedAt: at }
      })
      await examples.createMany(workspaceId, rows)
      await assertTotals(examples, prompt)
      added.push(...rows)
    }
    return { added, skipped: [...skipped, ...late] }
  })
}

const uuidsOf = (found: readonly Found[]): string[] => found.map(({ run }) => run.uuid)

function byPrompt(found: readonly Found[]): Map<string, Found[]> {
  const prompts = new Map<string, Found[]>()
  for (const each of found) {
    const { documentUuid } = each.run
    prompts.set(documentUuid, [...(prompts.get(documentUuid) ?? []), each])
  }
  return prompts
}

/** `run 9f0d6c1e`, or with the whole uuid and a number if the name is taken. */
async function freeNames(
  examples: Stores['examples'],
  { workspaceId, projectId, documentUuid }: Pick<Example, 'workspaceId' | 'projectId' | 'documentUuid'>,
  uuids: readonly string[],
): Promise<string[]> {
  const candidates = uuids.map((uuid) => [
    `run ${uuid.slice(0, 8)}`,
    ...Array.from({ length: 9 }, (_, n) => `run ${uuid}${n ? ` ${n}` : ''}`),
  ])
  const stored = await examples.listNamed(workspaceId, projectId, documentUuid, candidates.flat())
  const taken = new Set(stored.map(({ name }) => name))
  return candidates.map((names) => {
    const free = names.find((name) => !taken.has(name)) ?? `run ${randomUUID()}`
    taken.add(free)
    return free
  })
}

/** Returns the reason if the run cannot be saved. */
function fieldsOf(
  run: SourceRun,
  expected: 'answer' | 'none',
  serverTools: readonly string[],
): Found['fields'] | SkippedRun['reason'] {
  const { parameters, given, isEnded } = run
  if (!isEnded) return 'active'
  if (!parameters) return 'no-parameters'
  const answer = expected === 'answer' ? run.answer : null
  const fields = { parameters, messages: given, expected: answer, toolResults: resultsIn(run, serverTools) }
  return bytesOf({ ...fields, checks: [] }) > EXAMPLE_LIMITS.bytes ? 'too-large' : fields
}

/** The results of the prompt's client tools. Other tools run again in an experiment. */
function resultsIn({ messages, config, path }: SourceRun, serverTools: readonly string[]): Example['toolResults'] {
  const names = clientTools(config, path, serverTools)
  const results = new Map(partsOf(messages, 'tool-result').map((part) => [part.toolCallId, part]))
  const kept = new Map<string, CannedResult[]>()
  for (const { toolName, toolCallId, args } of partsOf(messages, 'tool-call')) {
    const part = results.get(toolCallId)
    const entries = kept.get(toolName) ?? []
    if (!part || !names.has(toolName) || entries.length >= EXAMPLE_LIMITS.toolResults) continue
    kept.set(toolName, [...entries, { args, result: part.result, ...(part.isError === true && { isError: true }) }])
  }
  return Object.fromEntries(kept)
}

type Part<T extends string> = Extract<Message['content'][number], { type: T }>

function partsOf<const T extends 'tool-call' | 'tool-result'>(messages: readonly Message[], type: T): Part<T>[] {
  return messages.flatMap(({ content }) => content.filter((part): part is Part<T> => part.type === type))
}

function clientTools(config: Record<string, unknown>, path: string, serverTools: readonly string[]): Set<string> {
  try {
    return new Set(readPromptConfig(config, path, serverTools).tools.map(({ name }) => name))
  } catch (error) {
    if (error instanceof RunError) return new Set()
    throw error
  }
}
