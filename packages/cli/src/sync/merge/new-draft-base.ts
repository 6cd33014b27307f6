import type { Version } from '@stet/sdk'
import type { LockEntry } from '../../settings/lock-file.ts'
import { entryOf } from '../apply.ts'
import { compareWith, type Workspace } from '../workspace.ts'

/**
 * A folder that follows an open draft, compared with live for a draft of its own: what the open draft changed is no base there, live
 * never held it. Its base is live's text, unless live changed it since: then both sides did.
 */
export async function rebaseOnLive(overLive: Workspace, open: Version): Promise<Workspace> {
  const { changes } = await overLive.client.versions.diff(open.uuid)
  const entries: Record<string, LockEntry> = { ...overLive.entries }
  for (const { path, documentUuid, before, after, conflict } of changes) {
    // Changed in the draft by somebody else, and not pulled since: the base is older than the draft's text.
    if (entries[path]?.hash !== after?.contentHash) continue
    if (before === null || conflict) delete entries[path]
    else entries[path] = entryOf(before.contentHash, documentUuid)
  }
  return compareWith(entries, overLive)
}
