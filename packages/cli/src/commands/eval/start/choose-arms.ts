import type { NewExperimentArm, RunOverrides, Stet, Version } from '@stet/sdk'
import type { Context } from '../../../context.ts'
import { CliError } from '../../../exit-code.ts'
import { findDraft, findVersion, listDrafts } from '../../../sync/version-ref.ts'

export interface ArmsInput {
  /** The name or uuid of the version to try. */
  draft?: string | undefined
  /** `live`, `none`, or the name or uuid of a version. */
  baseline: string
  /** Each adds an arm. */
  overrides: readonly RunOverrides[]
}

export interface Compared {
  candidate: Version
  /** Undefined for no comparison. */
  baseline: Version | undefined
  /** The candidate is a draft, and live was asked for, but nothing is live yet. */
  isFirst?: boolean
}

const MOST_ARMS = 4
const LONGEST_LABEL = 100

export async function findCompared(client: Stet, { draft, baseline }: ArmsInput, ctx: Context): Promise<Compared> {
  const candidate = await findCandidate(client, draft, ctx)
  if (baseline === 'none') return { candidate, baseline: undefined }
  if (baseline !== 'live') return { candidate, baseline: await versionNamed(client, baseline) }
  const live = candidate.isLive ? candidate : await findLive(client)
  if (!live) ctx.say('Nothing is live yet: there is no baseline')
  return { candidate, baseline: live, isFirst: live === undefined }
}

/** The draft of the flag, then that of -V, of the lock file, the newest draft of the project, and live. */
async function findCandidate(client: Stet, ref: string | undefined, ctx: Context): Promise<Version> {
  const { versionRef, lock, baseUrl, projectId } = await ctx.settings()
  const named = ref ?? versionRef?.value
  if (named !== undefined) return versionNamed(client, named)
  const drafts = await listDrafts(client, false)
  const isOwnLock = lock?.baseUrl === baseUrl.value && lock.projectId === projectId?.value
  const followed = isOwnLock ? drafts.find(({ uuid }) => uuid === lock.version.uuid) : undefined
  const newest = drafts.toSorted((one, other) => other.createdAt.localeCompare(one.createdAt))[0]
  const found = followed ?? newest ?? (await findLive(client))
  if (found) return found
  throw new CliError('not_found', 'The project has no versions', { hint: 'run stet push first' })
}

async function versionNamed(client: Stet, ref: string): Promise<Version> {
  if (ref === 'live') return client.versions.get(ref)
  return findDraft(client, ref).catch((error: unknown) => {
    if (error instanceof CliError && error.code === 'not_found' && /^[0-9a-f-]{8,}$/i.test(ref))
      return findVersion(client, ref)
    throw error
  })
}

async function findLive(client: Stet): Promise<Version | undefined> {
  const { NotFoundError } = await import('@stet/sdk')
  return client.versions.get('live').catch((error: unknown) => {
    if (error instanceof NotFoundError) return undefined
    throw error
  })
}

/** The arms of an experiment, the baseline first. `isNew`: the baseline lacks the prompt. */
export function armsOf({ candidate, baseline }: Compared, overrides: readonly RunOverrides[], isNew: boolean) {
  const arms: NewExperimentArm[] = []
  if (baseline && !isNew) arms.push({ versionUuid: baseline.uuid, label: labelOf(baseline) })
  if (isNew || candidate.uuid !== baseline?.uuid) arms.push({ versionUuid: candidate.uuid, label: labelOf(candidate) })
  for (const one of overrides)
    arms.push({ versionUuid: candidate.uuid, overrides: one, label: labelOf(candidate, one) })
  if (baseline && arms.length < 2 && !isNew) {
    throw new CliError('usage', 'There is nothing to compare: the project has no draft', {
      hint: 'push a change, or pass --draft, --arm or --baseline none',
    })
  }
  if (arms.length > MOST_ARMS)
    throw new CliError('usage', `An experiment has at most ${MOST_ARMS} arms, not ${arms.length}`)
  return arms
}

/** @example 'draft "tone pass", model=gpt-6-luna' */
function labelOf({ status, title, version, isLive }: Version, overrides: RunOverrides = {}): string {
  const name = status === 'draft' ? `draft "${title}"` : isLive ? `live v${version}` : `v${version}`
  const changes = Object.entries(overrides).map(([key, value]) => `${key}=${value}`)
  return [name, ...changes].join(', ').slice(0, LONGEST_LABEL)
}

const numbers = ['temperature', 'topP', 'maxTokens'] as const
const texts = ['provider', 'model', 'reasoningEffort'] as const

/** @example parseOverrides('model=gpt-6-luna,temperature=0') // { model: 'gpt-6-luna', temperature: 0 } */
export function parseOverrides(text: string): RunOverrides {
  const overrides: RunOverrides = {}
  for (const pair of text.split(',')) {
    const [, key = '', value = ''] = /^\s*(\w+)=(.*)$/s.exec(pair) ?? []
    const number = numbers.find((name) => name === key)
    const name = texts.find((one) => one === key)
    if (value === '' || (number !== undefined && !Number.isFinite(Number(value))) || (!number && !name)) {
      throw new CliError('usage', `--arm must be <setting>=<value>, not "${pair}"`, {
        hint: `settings: ${[...texts, ...numbers].join(', ')}; separate several with commas`,
      })
    }
    if (number) overrides[number] = Number(value)
    if (name) overrides[name] = value
  }
  return overrides
}
