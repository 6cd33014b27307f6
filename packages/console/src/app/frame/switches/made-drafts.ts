import type { Stet } from '@stet/sdk'
import { countUnsaved, saveAll } from '../../unsaved.ts'

/** The drafts that this page has made for changes of live. */
const made = new Set<string>()
let dropping: Promise<unknown> = Promise.resolve()

export function noteMadeDraft(uuid: string): void {
  made.add(uuid)
}

/** Resolves when no draft is being deleted, so that the next change does not go into one. */
export async function draftsSettled(): Promise<void> {
  await dropping
}

/** Deletes a draft that was made for a change, if the change was undone. The user has left it. */
export function dropIfUndone(stet: Stet, projectId: number, uuid: string): Promise<boolean> {
  if (!made.has(uuid)) return Promise.resolve(false)
  // If it fails, the draft stays. The menu of versions does not list drafts without changes.
  const done = drop(stet, projectId, uuid).catch(() => false)
  dropping = done
  return done
}

async function drop(stet: Stet, projectId: number, uuid: string): Promise<boolean> {
  await saveAll()
  if (countUnsaved() > 0) return false
  const { status, changeCount } = await stet.versions.get(uuid, { projectId })
  if (status !== 'draft' || changeCount > 0) return false
  await stet.versions.delete(uuid, { projectId })
  return made.delete(uuid)
}
