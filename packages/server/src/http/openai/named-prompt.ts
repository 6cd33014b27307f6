/** Finds the prompt that a request names as its model, and lists the prompts as models. */

import { similarNames } from '@stet/template/similar-names'
import { findPrompt, type PreparedPrompt } from '../../features/documents/read-document.ts'
import {
  findProject,
  listVisible,
  numberedVersionRef,
  projectNamed,
  resolveVersion,
  segmentOf,
} from '../../features/documents/version-ref.ts'
import { listProviders } from '../../features/providers/list-providers.ts'
import { AppError, foundOrUndefined } from '../../shared/app-error.ts'
import type { Caller } from '../../shared/caller.ts'
import { DoorRefusal } from '../../wire/openai/fields.ts'
import type { PromptName } from '../../wire/openai/names.ts'
import type { HttpDeps } from '../http-deps.ts'

export interface FoundPrompt {
  projectId: number
  /** A uuid or `live`. */
  versionRef: string
  path: string
  prepared: PreparedPrompt
}

/** @throws DoorRefusal `model_not_found` */
export async function findNamedPrompt(deps: HttpDeps, caller: Caller, name: PromptName): Promise<FoundPrompt> {
  for await (const { projectId, path } of candidates(deps, caller, name.place)) {
    const address = { caller, projectId, versionRef: name.version }
    const versionRef = await orMissing(numberedVersionRef(deps, address))
    if (versionRef === undefined) continue
    const prepared = await orMissing(findPrompt(deps, { ...address, versionRef, path }))
    if (prepared) return { projectId, versionRef, path: prepared.text.path, prepared }
  }
  throw await modelNotFound(deps, caller, name)
}

interface Candidate {
  projectId: number
  path: string
}

/** A key for one project names paths. Another key names a project first, because a bare path would be ambiguous. */
async function* candidates(deps: HttpDeps, caller: Caller, place: string): AsyncGenerator<Candidate> {
  const slash = place.indexOf('/')
  const [first, rest] = slash < 0 ? [place, ''] : [place.slice(0, slash), place.slice(slash + 1)]
  if (caller.projectId !== null) {
    yield { projectId: caller.projectId, path: place }
    const own = await findProject(deps, caller, caller.projectId)
    if (rest !== '' && (first === own.name || first === String(own.id))) yield { projectId: own.id, path: rest }
    return
  }
  const project = rest === '' ? undefined : await orMissing(projectNamed(deps, caller, first))
  if (project) yield { projectId: project.id, path: rest }
}

/** A malformed path does not exist either. */
const orMissing = <Value>(reading: Promise<Value>) =>
  foundOrUndefined(reading, (error) => error instanceof AppError && /^(NotFound|BadRequest)Error$/.test(error.code))

const maxSuggested = 1_000

async function modelNotFound(deps: HttpDeps, caller: Caller, { place, version, param }: PromptName) {
  const id = version === 'live' ? place : `${place}@${version}`
  const known = (await listModels(deps, caller, maxSuggested)).map((model) => model.id)
  const [meant] = similarNames(place, new Set(known), { limit: 1, atLeast: 0.5 })
  const what = version === 'live' ? 'no live prompt has this path' : 'no prompt of this version has this path'
  const guess = meant === undefined ? '' : ` Did you mean '${meant}'?`
  const message = `The model '${id}' does not exist: ${what}.${guess}${await passThroughHint(deps, caller, place)}`
  return new DoorRefusal(404, { code: 'model_not_found', param: param === 'model' ? 'model' : param, message })
}

/** Models of a provider are not passed through: the prompts are the list of what a key may run. */
async function passThroughHint(deps: HttpDeps, { workspaceId }: Caller, place: string): Promise<string> {
  const [first = ''] = place.split('/', 1)
  const isProvider = first !== place && (await listProviders(deps, workspaceId)).some(({ name }) => name === first)
  if (!isProvider) return ''
  return ` To offer a provider's model, publish a prompt at this path that has only \`provider\` and \`model\`.`
}

export interface Model {
  id: string
  object: 'model'
  created: number
  owned_by: string
}

const maxModels = 10_000

/** Lists the live prompts of the projects that the key sees, by id. Above the limit, the last projects are left out. */
export async function listModels(
  deps: Pick<HttpDeps, 'stores' | 'liveCache'>,
  caller: Caller,
  limit = maxModels,
): Promise<Model[]> {
  const projects = await listVisible(deps, caller)
  const models: Model[] = []
  for (const project of projects) {
    if (models.length >= limit) break
    const live = await orMissing(resolveVersion(deps, { caller, projectId: project.id, versionRef: 'live' }))
    if (!live) continue
    const paths = await deps.stores.documents.listPaths(caller.workspaceId, live.version, limit - models.length)
    const prefix = caller.projectId === null ? `${segmentOf(project, projects)}/` : ''
    const created = Math.floor((live.version.mergedAt ?? live.version.createdAt).getTime() / 1000)
    for (const path of paths) models.push({ id: prefix + path, object: 'model', created, owned_by: project.name })
  }
  return models.sort((a, b) => (a.id < b.id ? -1 : 1))
}
