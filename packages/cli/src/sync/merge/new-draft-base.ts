import type { Version } from '@stet/sdk'
import type { LockEntry } from '../../settings/lock-file.ts'
import { entryOf } from '../apply.ts'
import { compareWith, type Workspace } from '../workspace.ts'

/**
 * The base for a new draft from a folder that follows an open draft. The open draft's own changes are no base, because live never had
 * them: the base is live's text, unless live changed it since, which makes a conflict.
 */
export async function rebaseOnLive(overLive: Workspace, open: Version): Promise<Workspace> {
  const { changes } = await overLive.client.versions.diff(open.uuid)
  const entries: Record<string, LockEntry> = { ...overLive.entries }
  for (const { path, documentUuid, before, after, conflict } of changes) {
    // A colleague changed it in the draft and it was not pulled since: the base is older than the draft's text.
    if (entries[path]?.hash !== after?.contentHash) continue
    if (before === null || conflict) delete entries[path]
    else entries[path] = entryOf(before.contentHash, documentUuid)
  }
  return compareWith(entries, overLive)
}
