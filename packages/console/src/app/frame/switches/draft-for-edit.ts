import type { Change, CreatedVersion, Stet, Version } from '@stet/sdk'

const weekMs = 7 * 24 * 60 * 60 * 1000
const dayText = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' })

/** The default name of a draft: its author and the day. */
export function draftName(author: Pick<Author, 'name'>, now: Date): string {
  return `${author.name} · ${dayText.format(now)}`
}

/** A version that accepts changes, and whether this call created it. */
export interface DraftForEdit {
  uuid: string
  title: string
  isNew: boolean
  /** The changes that it was created with, and their outcome. Null if it was not created. */
  created: (Pick<CreatedVersion, 'brokenReferences'> & { changes: readonly Change[] }) | null
}

interface Author {
  id: number
  name: string
}

/**
 * The rule for changes made on live: they go into the author's newest draft of the last 7 days, otherwise into a new
 * draft named after the author and the day. `existing` is null if a draft must be created.
 */
export function chooseDraft(
  versions: readonly Version[],
  author: Author,
  now: Date,
): { existing: Version | null; name: string } {
  const [existing = null] = versions
    .filter(({ status, authorId, deletedAt }) => status === 'draft' && authorId === author.id && deletedAt === null)
    .filter(({ createdAt }) => now.getTime() - Date.parse(createdAt) < weekMs)
    .sort((a, b) => Date.parse(b.createdAt) - Date.parse(a.createdAt) || b.id - a.id)
  return { existing, name: draftName(author, now) }
}

/** Calls in progress by project, so that two changes made at once do not create two drafts. */
const pending = new Map<number, Promise<DraftForEdit>>()

/**
 * Returns the draft that a change made on live goes into, and creates it if there is none. Changes in a draft stay
 * there: do not call this for a draft. If the draft is new, the caller reads the project's versions again.
 *
 * @param changes go into the draft only if this call creates it. If they are refused, no draft is left.
 * @throws ApiError, for example 403 without the key scope `write`
 */
export function draftForEdit(stet: Stet, projectId: number, changes: readonly Change[] = []): Promise<DraftForEdit> {
  const running = pending.get(projectId)
  // The changes of the other call may have been refused.
  if (running) return running.catch(() => draftForEdit(stet, projectId, changes))
  const started = findOrCreate(stet, projectId, changes).finally(() => pending.delete(projectId))
  pending.set(projectId, started)
  return started
}

async function findOrCreate(stet: Stet, projectId: number, changes: readonly Change[]): Promise<DraftForEdit> {
  const [me, drafts] = await Promise.all([stet.me(), stet.versions.list({ projectId, status: 'draft' })])
  const { existing, name } = chooseDraft(drafts, me.apiKey.author, new Date())
  if (existing) return { uuid: existing.uuid, title: existing.title, isNew: false, created: null }
  const { uuid, title, brokenReferences = [] } = await stet.versions.create(name, { projectId, changes: [...changes] })
  return { uuid, title, isNew: true, created: { changes, brokenReferences } }
}
